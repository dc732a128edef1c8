; =============================================================================
;
;   C O N T O U R                  a small game for the Atari 2600, 4 KB, NTSC
;
;   MIT licence, like the rest of diffvcs.
;
; You are a surveyor in a hot-air balloon. Survey marks appear one after another in
; a mountain landscape drawn in contour lines; float to each of them without touching
; the thundercloud or its hail. The mountains themselves are soft: they stop the
; balloon and no more. The fire button sends off a signal rocket in the direction of
; the stick, which bursts clouds and hailstones. Eight marks, and the next landscape
; comes, with more clouds.
;
;       a mark              10 points       joystick   fly, four directions
;       a cloud              5 points       fire       rocket (and a new game
;       a hailstone          1 point                   when the last is over)
;       a whole map         50 points       RESET      a new game
;       three balloons, no more             SELECT     game 1, 2, 3 or 4
;
;   Games 2 and 4 start with two clouds, games 3 and 4 have wind.
;
; WHY IT EXISTS. diffvcs needs a cartridge that everybody may copy, take apart and
; change, that exercises the whole machine, and that a reader can hold in the head.
; So both players, both missiles and the ball are in play, eight of the fifteen
; collision latches decide what happens, the score is kept in decimal mode and
; shown by the six-digit trick, the timer frames the picture, and nothing depends on
; what the RAM held at power-on: same input, same frames, always. Every opcode used
; is in MOS's own book.
;
; -----------------------------------------------------------------------------
; A KERNEL WITHOUT DECISIONS
; -----------------------------------------------------------------------------
; The TIA has no picture memory. It knows one line at a time, and the program must
; rewrite its registers while the beam flies: 76 CPU cycles to a line, 3 colour clocks
; to a cycle, 68 clocks of horizontal blank and then 160 visible pixels.
;
; The usual kernel asks on each line "is the sprite here?" for each of its objects,
; with a compare and a branch whose two arms must be made to last equally long. This
; one never asks. Every shape lies in ROM between two fields of eighty zeros,
;
;        80 x $00 | shape | 80 x $00 | next shape | 80 x $00 ...
;
; and an object at height Y is a pointer to (shape - Y). Row y then reads
;
;        lda (pointer),y        ->  shape[y - Y], or one of the zeros
;
; so the height of an object lives in a pointer and the kernel is a straight line of
; loads and stores: its only branch is the loop. It costs ROM, which is plentiful, and
; saves time, which a kernel lacks. (It is also the easiest code to differentiate: data
; moves, control does not.)
;
; One ROW is two scanlines; there are 80 rows, counted down in Y from 79 (top) to 0.
; The playfield is reflected, and PF1 and PF2 are rewritten in the middle of each line
; so that the right half differs from the left. In reflected mode the second PF2 must
; replace the first between pixel 79 and pixel 80: its store has to END ON CYCLE 48,
; neither sooner nor later. Everything before it is therefore of fixed length:
; tables do not cross pages there. After it, shapes may, and WSYNC absorbs the cycle.
;
;   line A                 ends at      line B                 ends at
;   ENAM0, ENAM1 from X, A       6      GRP1 from A: the delayed      3
;   sky colour                  13        GRP0 and ENABL appear too
;   PF1 left                    21      land colour                  10
;   PF2 left                    29      PF1 left                     18
;   three cycles of rest        32      PF2 left                     26
;   PF1 right                   40      PF0 (both edges)             33
;   PF2 right             ==>   48      fetch ENAM0 into X           40
;   GRP0  (hidden: VDELP0)   56-57      PF2 right              ==>   48
;   ENABL (hidden: VDELBL)   64-65      PF1 right                    56
;   fetch GRP1 into A        69-71      fetch ENAM1 into A           61
;   WSYNC                    72-74      next row, loop               66
;                                       WSYNC                        69
;
; The vertical-delay registers earn their keep here. With VDELP0 and VDELBL set, what
; is written to GRP0 and ENABL in the middle of a visible line waits in the wings
; until GRP1 is written; one store in the next horizontal blank then changes player 0,
; player 1 and the ball at once. Of 152 cycles, WSYNC wastes at most eleven.
;
; -----------------------------------------------------------------------------
; THE FRAME: 262 lines
; -----------------------------------------------------------------------------
;     3  vertical sync
;    37  vertical blank     pointers, horizontal positions; ends by timer
;   192  picture              3 black, 8 score, 6 to move the players over,
;                           160 landscape, 15 for the progress bar
;    30  overscan           switches, collisions, game, sound; ends by timer
;
; Horizontal positions are set the classical way: an object appears where the beam is
; when its RES register is struck, so we burn x/15 turns of a five-cycle loop (15
; clocks each), strike, and leave the remainder to HMOVE.
;
; -----------------------------------------------------------------------------
; THE ROM
; -----------------------------------------------------------------------------
;   $F000  both kernels and the positioning loop, in one page
;   $F0xx  power-on, the frame, the game, small tables
;   $F700  maps: four 80-byte tables each, three tables to a page (maps.inc)
;   $FBxx  map pointers, places of the marks, glyphs of the score
;   $FC00  colours of land and sky by height, PF0 edges (edges.inc)
;   $FD00  shapes between zeros
;   $FFFA  vectors
;
; Build:  dasm demo/demo.asm -Idemo -f3 -odemo/demo.bin
; =============================================================================

        processor 6502
        include "vcs.inc"

; constants -------------------------------------------------------------------
ROWS            = 80            ; kernel rows, two scanlines each
HIDDEN          = 80            ; the height at which an object is not seen
P0_START_X      = 76            ; where the balloon starts (mkmap.py knows it too)
P0_START_Y      = 66
P0_MAX_X        = 151
P0_MIN_Y        = 1
P0_MAX_Y        = 70
CLOUD_MIN_Y     = 26
CLOUD_MAX_Y     = 70
SCORE_X         = 55            ; left edge of the six digits
DEATH_FRAMES    = 64            ; how long a punctured balloon sinks
SAFE_FRAMES     = 96            ; how long a new balloon cannot be harmed
BURST_FRAMES    = 28            ; how long a burst cloud stays away
MARKS_PER_MAP   = 8
MAPS            = 3

PLAYING         = 0             ; values of gameOver
OVER            = 1

; RAM: 128 bytes, cleared at power-on, stack at the top ------------------------
        SEG.U RAM
        ORG $80
scoreHi         ds 1    ; $80  BCD, thousands and hundreds
scoreLo         ds 1    ; $81  BCD, tens and ones
lives           ds 1    ; $82  balloons left, the one in the air included
gameOver        ds 1    ; $83  0 playing, 1 over
variation       ds 1    ; $84  0..3; D0: starts with two clouds, D1: wind
mapNo           ds 1    ; $85  0..2
marks           ds 1    ; $86  found in this map, 0..7
level           ds 1    ; $87  maps finished, stops at 7
rand            ds 1    ; $88  8-bit LFSR, never zero
frame           ds 1    ; $89  counts frames

objX                    ; colour clock of the left edge, in the order of RESP0..RESBL
p0X             ds 1    ; $8A  balloon
p1X             ds 1    ; $8B  cloud
m0X             ds 1    ; $8C  rocket
m1X             ds 1    ; $8D  hail
blX             ds 1    ; $8E  mark
p0Y             ds 1    ; $8F  kernel row of the lower edge, HIDDEN if there is none
p1Y             ds 1    ; $90
m0Y             ds 1    ; $91
m1Y             ds 1    ; $92
blY             ds 1    ; $93

goodX           ds 1    ; $94  where the balloon last was without touching land
goodY           ds 1    ; $95
heading         ds 1    ; $96  of the stick: 0 right, 1 left, 2 down, 3 up
m0Heading       ds 1    ; $97  of the rocket
deathTimer      ds 1    ; $98  > 0: sinking
safeTimer       ds 1    ; $99  > 0: cannot be harmed
burstTimer      ds 1    ; $9A  > 0: the cloud is bursting
cloudDir        ds 1    ; $9B  1 or $FF
cloudFrac       ds 1    ; $9C  fraction of p1X
wind            ds 1    ; $9D  1 or $FF
markNo          ds 1    ; $9E  which of the map's eight marks is out
stick           ds 1    ; $9F  SWCHA of this frame
fireWas         ds 1    ; $A0  D7 of INPT4 a frame ago
selectWas       ds 1    ; $A1  D1 of SWCHB a frame ago
fxTime          ds 2    ; $A2  sound effects: frames left, per channel
fxKind          ds 2    ; $A4
cloudCount      ds 1    ; $A6  0, 1, 2: one, two, three clouds
p0Colour        ds 1    ; $A7
p1Colour        ds 1    ; $A8
temp            ds 1    ; $A9
temp2           ds 1    ; $AA

digits          ds 12   ; $AB  six pointers to glyphs
pf1l            ds 2    ; $B7  pointers into the map
pf2l            ds 2
pf2r            ds 2
pf1r            ds 2
p0Ptr           ds 2    ; $BF  pointers to (shape - height)
p1Ptr           ds 2
m0Ptr           ds 2
m1Ptr           ds 2
blPtr           ds 2

        SEG ROM
        ORG $F000

; =============================================================================
; The two kernels, first in ROM so that no branch of theirs crosses a page.
; =============================================================================

; The six-digit trick. Player 0 and player 1 each come in three close copies, player 1
; eight pixels to the right, so the line reads 0 1 0 1 0 1. Both are delayed: each
; store shows what was stored in the other player before. Three digits are in place when
; the beam arrives, and the last three follow just ahead of it.
ScoreKernel SUBROUTINE
        ldy #7                  ; eight rows, bottom row last
.row    sty temp                ; 64
        lda (digits+0),y        ; 69
        sta GRP0                ; 72
        sta WSYNC               ; 75
        lda (digits+2),y        ;  5
        sta GRP1                ;  8    digit 0 appears
        lda (digits+4),y        ; 13
        sta GRP0                ; 16    digit 1 appears
        lda (digits+6),y        ; 21
        sta temp2               ; 24
        lda (digits+8),y        ; 29
        tax                     ; 31
        lda (digits+10),y       ; 36
        tay                     ; 38
        lda temp2               ; 41
        sta GRP1                ; 44    digit 2 appears: beam at 64, digit 0 is drawn
        stx GRP0                ; 47    digit 3
        sty GRP1                ; 50    digit 4
        sta GRP0                ; 53    digit 5
        ldy temp                ; 56
        dey                     ; 58
        bpl .row                ; 61
        rts

; The landscape. See the essay for the budget; the number is the cycle on which
; an instruction ends.
LandKernel SUBROUTINE
        ldy #ROWS-1
        lda #0                  ; ENAM1 of the first row
        tax                     ; ENAM0
.lineA  sta WSYNC               ;  0
        stx ENAM0               ;  3
        sta ENAM1               ;  6
        lda SkyTab,y            ; 10
        sta COLUBK              ; 13
        lda (pf1l),y            ; 18
        sta PF1                 ; 21
        lda (pf2l),y            ; 26
        sta PF2                 ; 29
        sta temp                ; 32    rest
        lda (pf1r),y            ; 37
        sta PF1                 ; 40
        lda (pf2r),y            ; 45
        sta PF2                 ; 48    exactly
        lda (p0Ptr),y           ; 53-54
        sta GRP0                ; 56-57 waits for GRP1
        lda (blPtr),y           ; 61-62
        sta ENABL               ; 64-65 waits for GRP1
        lda (p1Ptr),y           ; 69-71
        sta WSYNC               ; 72-74
        sta GRP1                ;  3    P0, P1 and BL change together
        lda LandTab,y           ;  7
        sta COLUPF              ; 10
        lda (pf1l),y            ; 15
        sta PF1                 ; 18
        lda (pf2l),y            ; 23
        sta PF2                 ; 26
        lda EdgeTab,y           ; 30
        sta PF0                 ; 33    right edge of this line, left edge of the next
        lda (m0Ptr),y           ; 38
        tax                     ; 40
        lda (pf2r),y            ; 45
        sta PF2                 ; 48    exactly
        lda (pf1r),y            ; 53
        sta PF1                 ; 56
        lda (m1Ptr),y           ; 61
        dey                     ; 63
        bpl .lineA              ; 66
        rts

; X = object (0 P0, 1 P1, 2 M0, 3 M1, 4 BL), A = colour clock of its left edge.
; Struck on cycle 22 + 5n, a player appears at clock 3 + 15n, a missile or the ball
; at 2 + 15n; the remainder, -8..+6, goes to HMOVE. Takes the rest of this line and all
; of the next, wherever the object is.
PositionObject SUBROUTINE
        cpx #2                  ; carry: one more for missiles and ball
        adc #3
        sec
        sta WSYNC               ;  0
.div    sbc #15                 ;  2
        bcs .div                ;  4 + 5n
        eor #7                  ;  6
        asl                     ;  8
        asl                     ; 10
        asl                     ; 12
        asl                     ; 14
        sta HMP0,x              ; 18
        sta RESP0,x             ; 22 + 5n, 72 at most
        sta WSYNC
        rts

    IF (>ScoreKernel) != (>*)
        ECHO "kernels cross a page"
        ERR
    ENDIF

; =============================================================================
; Power-on
; =============================================================================
Start SUBROUTINE
        sei
        cld
        ldx #$FF
        txs
        inx                     ; X = 0
        txa
.clear  sta $00,x               ; TIA and RAM to zero
        inx
        bne .clear
        lda #$A5
        sta rand
        lda #$FF
        sta selectWas
        lda #1
        sta wind
        jsr NewGame             ; power on, and it plays

; =============================================================================
; One frame
; =============================================================================
NextFrame SUBROUTINE
        lda #2
        sta WSYNC
        sta VSYNC               ; three lines of it
        sta WSYNC
        sta WSYNC
        sta WSYNC
        lda #0
        sta VSYNC
        lda #44                 ; reaches zero in line 37 of 37, after 2763 cycles
        sta TIM64T

        jsr Pointers
        jsr ScorePointers

        ; the players go to their places in the score, missiles and ball to theirs
        ldx #4
.place  lda objX,x
        cpx #2
        bcs .go
        lda ScorePlaces,x
.go     jsr PositionObject
        dex
        bpl .place
        sta WSYNC
        sta HMOVE               ; in blank: the comb it leaves is not seen

        lda #3                  ; three close copies of both
        sta NUSIZ0
        sta NUSIZ1
        sta VDELP0              ; D0 of 3
        sta VDELP1
        lda #0
        sta REFP1
        sta COLUBK
        sta PF0
        sta PF1
        sta PF2
        sta HMCLR               ; more than 24 cycles after HMOVE, as it must be
        lda #$0E
        ldx gameOver
        beq .ink
        lda frame               ; a game that is over breathes
        lsr
        lsr
        and #$0F
        ora #$10
.ink    sta COLUP0
        sta COLUP1

.blank  lda INTIM
        bne .blank
        sta WSYNC

; ---- 192 lines of picture ---------------------------------------------------
        sta VBLANK              ; A = 0: beam on                        line 1
        sta WSYNC
        sta WSYNC
        jsr ScoreKernel         ; black line 3, digits in               lines 4-11

        sta WSYNC
        lda #0                  ;                                       line 12
        sta GRP0                ; three stores empty old and new of both
        sta GRP1
        sta GRP0
        sta VDELP1              ; player 1 shows at once from here on
        ldx #1                  ; the players go where the game has them
        lda p1X
        jsr PositionObject      ;                                       lines 13-14
        dex
        lda p0X
        jsr PositionObject      ;                                       lines 15-16
        sta WSYNC
        sta HMOVE               ;  3                                    line 17
        ldx cloudCount          ;  6
        lda CloudCopies,x       ; 10
        sta NUSIZ1              ; 13
        lda #$20                ; 15    one balloon, the rocket four clocks wide
        sta NUSIZ0              ; 18
        sta CXCLR               ; 21    touching in the score is no crash
        lda frame               ; 24    the mark pulses, four and eight clocks wide
        and #$10                ; 26
        ora #$21                ; 28    D0: both the reflection and the delay
        sta VDELBL              ; 31
        sta CTRLPF              ; 34
        lda cloudDir            ; 37
        and #$08                ; 39    $FF flies left: mirrored
        sta REFP1               ; 42
        lda p0Colour            ; 45
        sta COLUP0              ; 48
        lda p1Colour            ; 51
        sta COLUP1              ; 54
        jsr LandKernel          ; 60, and 69 at its first WSYNC         lines 18-177

        sta WSYNC               ; 74: the rts came on cycle 71
        lda #0                  ;                                       line 178
        sta COLUBK
        sta PF0
        sta PF1
        sta PF2
        sta ENAM0
        sta ENAM1
        sta ENABL
        sta GRP0
        sta GRP1                ; takes GRP0 and ENABL with it
        ldx marks
        ldy #5
        jsr Lines               ; now in                                line 183
        lda #$1C
        sta COLUPF
        lda ProgressBar,x       ; reflected: it grows from the middle
        sta PF2
        ldy #5
        jsr Lines               ;                                       line 188
        lda #0
        sta PF2
        ldy #5
        jsr Lines               ; past                                  line 192

; ---- 30 lines of overscan ---------------------------------------------------
        lda #2
        sta VBLANK
        lda #36                 ; reaches zero in line 30 of 30, after 2250 cycles
        sta TIM64T

        inc frame
        jsr Random
        jsr Switches
        lda SWCHA
        sta stick
        lda gameOver
        bne .attract
        lda deathTimer
        bne .dying
        jsr Collisions
        lda deathTimer          ; it may just have happened
        bne .world
        jsr Fly
        jmp .world
.dying  jsr Sink
        jmp .world
.attract
        lda #HIDDEN
        sta p0Y
.world  jsr Cloud
        jsr Hail
        jsr Rocket
        jsr Sound
        lda INPT4
        sta fireWas

.over   lda INTIM
        bne .over
        jmp NextFrame

; Y lines pass.
Lines   sta WSYNC
        dey
        bne Lines
        rts

; =============================================================================
; Vertical blank: from the state of the game to what the kernels read
; =============================================================================

; Heights become pointers: pointer = shape - height.
Pointers SUBROUTINE
        lda mapNo               ; the map: eight bytes of pointers
        asl
        asl
        asl
        tax
        ldy #0
.map    lda MapPointers,x
        sta pf1l,y
        inx
        iny
        cpy #8
        bne .map

        ldx #>Dot               ; missiles and ball: the dot lies 80 bytes into its
        stx m0Ptr+1             ; page, so the high byte never changes
        stx m1Ptr+1
        stx blPtr+1
        sec
        lda #<Dot
        sbc m0Y
        sta m0Ptr
        lda #<Dot               ; (no borrow: heights go up to 80)
        sbc m1Y
        sta m1Ptr
        lda #<Dot
        sbc blY
        sta blPtr

        ldx #0                  ; which balloon: 0 calm, 1 burner lit, 2 torn
        lda deathTimer
        beq .whole
        ldx #2
        bne .p0
.whole  lda stick
        and #$10                ; pushing up?
        bne .p0
        lda frame
        and #$04
        beq .p0
        inx
.p0     lda BalloonLo,x
        sec
        sbc p0Y
        sta p0Ptr
        lda BalloonHi,x
        sbc #0
        sta p0Ptr+1

        ldx #0                  ; which cloud: 0 dark, 1 lightning, 2 bursting
        lda burstTimer
        beq .solid
        ldx #2
        bne .p1
.solid  lda m1Y
        cmp #HIDDEN
        beq .p1
        lda frame
        and #$08
        beq .p1
        inx
.p1     lda CloudLo,x
        sec
        sbc p1Y
        sta p1Ptr
        lda CloudHi,x
        sbc #0
        sta p1Ptr+1
        lda CloudColour,x
        sta p1Colour

        lda #$46                ; the balloon is red,
        ldy safeTimer           ; blinks while it is safe,
        beq .torn
        lda frame
        and #$08
        ora #$46
.torn   ldy deathTimer          ; and flickers when torn
        beq .colour
        tya
        asl
        asl
        ora #$06
.colour sta p0Colour

        lda variation           ; clouds: level + D0 of the variation, three at most
        and #1
        clc
        adc level
        cmp #3
        bcc .count
        lda #2
.count  sta cloudCount
        rts

; Six glyphs: four of score, a sign, and lives (playing) or the game's number (over).
; A glyph is eight bytes, so its low byte is nibble * 8 further than that of the first.
ScorePointers SUBROUTINE
        lda #>Glyphs
        ldx #10
.high   sta digits+1,x
        dex
        dex
        bpl .high
        lda scoreHi
        ldx #0
        jsr .byte
        lda scoreLo
        ldx #4
        jsr .byte
        lda #<GlyphBalloon
        ldy lives
        ldx gameOver
        beq .sign
        lda #<GlyphGame
        ldy variation
        iny
.sign   sta digits+8
        tya
        ldx #8
        bne .low                ; always
.byte   pha
        and #$F0
        lsr
        adc #<Glyphs            ; carry clear: D0 was
        sta digits,x
        pla
.low    and #$0F
        asl
        asl
        asl
        adc #<Glyphs            ; carry clear: D5 was
        sta digits+2,x
        rts

; =============================================================================
; Overscan: the game
; =============================================================================

; An 8-bit Galois LFSR with taps 8, 6, 5, 4: 255 values before it repeats.
Random SUBROUTINE
        lda rand
        lsr
        bcc .even
        eor #$B8
.even   sta rand
        rts

; RESET starts a game. SELECT, on the way down, ends it and chooses the next variation.
; When a game is over, a fresh press of the button starts one too.
Switches SUBROUTINE
        lda SWCHB
        lsr                     ; D0: RESET
        bcc NewGame
        lda SWCHB
        tax
        eor #$FF
        and selectWas           ; down now, up before
        stx selectWas
        and #2
        beq .fire
        ldx variation
        inx
        txa
        and #3
        sta variation
        lda #OVER
        sta gameOver
        lda #0
        sta lives
        rts
.fire   lda gameOver
        beq .done
        lda INPT4
        eor #$80
        and fireWas
        bmi NewGame
.done   rts

NewGame SUBROUTINE
        lda #0
        sta scoreHi
        sta scoreLo
        sta gameOver            ; PLAYING
        sta mapNo
        sta marks
        sta level
        sta burstTimer
        lda #3
        sta lives
        jsr NewCloud
        jsr NextMark
        ; fall through

; A fresh balloon at the top.
Launch SUBROUTINE
        lda #P0_START_X
        sta p0X
        sta goodX
        lda #P0_START_Y
        sta p0Y
        sta goodY
        lda #HIDDEN
        sta m0Y
        sta m1Y
        lda #0
        sta deathTimer
        lda #SAFE_FRAMES
        sta safeTimer
        rts

; A cloud comes in from the side, at a height drawn by lot.
NewCloud SUBROUTINE
        jsr Random
        ldx #1
        ldy #0
        lsr
        bcs .right
        ldx #$FF
        ldy #158
.right  stx cloudDir
        sty p1X
        and #$1F
        adc #38                 ; 38..70 with the carry
        sta p1Y
        rts

; The next mark: one of the eight of this map, not the same again.
NextMark SUBROUTINE
        jsr Random
        and #7
        cmp markNo
        bne .other
        adc #0                  ; equal, so the carry is set: one further
        and #7
.other  sta markNo
        lda mapNo
        asl
        asl
        asl
        ora markNo
        tax
        lda MarkX,x
        sta blX
        lda MarkY,x
        sta blY
        rts

; A BCD points more, and no more than 9999.
AddScore SUBROUTINE
        sed
        clc
        adc scoreLo
        sta scoreLo
        lda scoreHi
        adc #0
        sta scoreHi
        cld
        bcc .done
        lda #$99
        sta scoreHi
        sta scoreLo
.done   rts

; The hardware has watched the whole picture; what touched what?
Collisions SUBROUTINE
        lda safeTimer
        beq .mortal
        dec safeTimer
        jmp .land
.mortal lda burstTimer
        bne .hail               ; a bursting cloud does no harm
        bit CXPPMM              ; D7: balloon and cloud
        bmi .torn
.hail   bit CXM1P               ; D7: hail and balloon
        bpl .land
.torn   dec lives
        lda #DEATH_FRAMES
        sta deathTimer
        lda #HIDDEN
        sta m1Y
        lda #FX_TORN
        ldx #0
        jmp Play

.land   bit CXP0FB              ; D7: balloon and land
        bpl .clear
        lda goodX               ; back to where it was not so
        sta p0X
        lda goodY
        sta p0Y
        lda fxTime
        bne .mark
        lda #FX_BUMP
        ldx #0
        jsr Play
        jmp .mark
.clear  lda p0X
        sta goodX
        lda p0Y
        sta goodY

.mark   bit CXP0FB              ; D6: balloon and mark
        bvc .burst
        lda #$10
        jsr AddScore
        lda #FX_MARK
        ldx #0
        jsr Play
        inc marks
        lda marks
        cmp #MARKS_PER_MAP
        bne .next
        lda #0                  ; the map is finished
        sta marks
        lda #$50
        jsr AddScore
        lda #FX_MAP
        ldx #0
        jsr Play
        lda level
        cmp #7
        beq .turn
        inc level
.turn   ldx mapNo
        inx
        cpx #MAPS
        bne .page
        ldx #0
.page   stx mapNo
        jsr NewCloud
        jsr NextMark
        jmp Launch
.next   jsr NextMark

.burst  bit CXM0P               ; D7: rocket and cloud
        bpl .stone
        lda burstTimer
        bne .stone
        lda #BURST_FRAMES
        sta burstTimer
        lda #HIDDEN
        sta m0Y
        lda #$05
        jsr AddScore
        lda #FX_BURST
        ldx #1
        jsr Play
.stone  bit CXPPMM              ; D6: rocket and hail
        bvc .done
        lda #HIDDEN
        sta m0Y
        sta m1Y
        lda #$01
        jmp AddScore
.done   rts

; The stick moves the balloon: a clock a frame across, a row every other frame up and
; down, which is the same speed on the screen. Then the wind, then the rocket.
Fly SUBROUTINE
        lda stick
        ldx #0                  ; heading 0
        asl
        bcs .notR
        stx heading
        ldy p0X
        cpy #P0_MAX_X
        bcs .notR
        inc p0X
.notR   inx                     ; heading 1
        asl
        bcs .notL
        stx heading
        ldy p0X
        beq .notL
        dec p0X
.notL   inx                     ; heading 2
        asl
        bcs .notD
        stx heading
        pha
        lda frame
        lsr
        pla
        bcs .notD
        ldy p0Y
        cpy #P0_MIN_Y+1
        bcc .notD
        dec p0Y
.notD   inx                     ; heading 3
        asl
        bcs .notU
        stx heading
        lda frame
        lsr
        bcs .notU
        ldy p0Y
        cpy #P0_MAX_Y
        bcs .notU
        inc p0Y
.notU
        lda variation           ; D1: wind
        and #2
        beq .calm
        lda rand
        cmp #2                  ; now and then it turns
        bcs .blow
        lda wind
        eor #$FE
        sta wind
.blow   lda frame
        and #3
        bne .calm
        lda p0X
        clc
        adc wind
        cmp #P0_MAX_X+1         ; 152 or 255: stay
        bcs .calm
        sta p0X
.calm
        bit INPT4               ; D7 low: fire
        bmi .done
        lda m0Y
        cmp #HIDDEN
        bne .done               ; one rocket at a time
        lda heading
        sta m0Heading
        lda p0X
        clc
        adc #2
        sta m0X
        lda p0Y
        adc #3
        sta m0Y
        lda #FX_ROCKET
        ldx #1
        jmp Play
.done   rts

; A torn balloon goes down; then the next one, or none.
Sink SUBROUTINE
        lda frame
        lsr
        bcs .falling
        lda p0Y
        cmp #P0_MIN_Y+1
        bcc .falling
        dec p0Y
.falling
        dec deathTimer
        bne .done
        lda lives
        beq .last
        jsr NewCloud
        jmp Launch
.last   lda #OVER
        sta gameOver
.done   rts

; The cloud drifts across and comes round again, slowly making for the balloon's height.
Cloud SUBROUTINE
        lda burstTimer
        beq .drift
        dec burstTimer
        bne .done
        jmp NewCloud
.drift  ldx level
        lda cloudFrac
        clc
        adc CloudSpeed,x
        sta cloudFrac
        bcc .seek
        lda p1X
        clc
        adc cloudDir
        cmp #160
        bcc .inside
        lda #0                  ; 160 comes round to 0,
        bit cloudDir
        bpl .inside
        lda #159                ; 255 to 159
.inside sta p1X
.seek   lda frame
        and #7
        bne .done
        lda p0Y
        cmp #HIDDEN
        beq .done               ; no balloon in the air
        cmp p1Y
        beq .done
        bcc .lower
        lda p1Y
        cmp #CLOUD_MAX_Y
        bcs .done
        inc p1Y
        rts
.lower  lda p1Y
        cmp #CLOUD_MIN_Y+1
        bcc .done
        dec p1Y
.done   rts

; Hail falls, and ends on land (or below the picture). With several clouds each
; has its stone: copies of a player are copies of its missile.
Hail SUBROUTINE
        lda m1Y
        cmp #HIDDEN
        beq .idle
        bit CXM1FB              ; D7: hail and land
        bmi .gone
        lda level               ; on the first map it rests every fourth frame
        bne .fall
        lda frame
        and #3
        beq .done
.fall   dec m1Y
        bpl .done
.gone   lda #HIDDEN
        sta m1Y
.done   rts
.idle   lda burstTimer
        bne .done
        lda rand                ; about twice a second
        and #$1F
        bne .done
        lda p1X
        clc
        adc #3
        cmp #160
        bcc .drop
        sbc #160
.drop   sta m1X
        lda p1Y
        sta m1Y
        rts

; The rocket flies until it meets land or leaves the picture.
Rocket SUBROUTINE
        lda m0Y
        cmp #HIDDEN
        beq .done
        bit CXM0FB              ; D7: rocket and land
        bmi .gone
        ldx m0Heading
        lda m0X
        clc
        adc RocketDX,x
        cmp #157
        bcs .gone
        sta m0X
        lda m0Y
        clc
        adc RocketDY,x
        cmp #79
        bcs .gone
        sta m0Y
        rts
.gone   lda #HIDDEN
        sta m0Y
.done   rts

; =============================================================================
; Sound: an effect is a tone, a length, and a divider that follows the time left
; =============================================================================

; A = effect, X = channel.
Play SUBROUTINE
        sta fxKind,x
        tay
        lda FxLength,y
        sta fxTime,x
        rts

Sound SUBROUTINE
        ldx #1
.each   lda fxTime,x
        beq .volume             ; A = 0: silence
        dec fxTime,x
        ldy fxKind,x
        lda FxTone,y
        sta AUDC0,x
        lda fxTime,x
        eor FxFlip,y            ; $FF: the pitch falls, 0: it rises
        and FxMask,y
        clc
        adc FxBase,y
        sta AUDF0,x
        lda fxTime,x
        lsr
        cmp #10
        bcc .volume
        lda #10
.volume sta AUDV0,x
        dex
        bpl .each
        rts

FX_MARK   = 0
FX_MAP    = 1
FX_TORN   = 2
FX_BUMP   = 3
FX_ROCKET = 4
FX_BURST  = 5
;              mark  map torn bump rocket burst
FxTone   .byte    4,   4,   8,   6,   8,   8
FxLength .byte   18,  56,  60,   4,  12,  24
FxBase   .byte    5,   4,   6,  24,   1,   8
FxMask   .byte  $0C, $14, $1F, $00, $07, $0F
FxFlip   .byte  $00, $00, $FF, $00, $FF, $FF

; =============================================================================
; Small tables
; =============================================================================
ScorePlaces     .byte SCORE_X, SCORE_X+8
CloudCopies     .byte $20, $24, $26     ; one; two, wide apart; three; stones four wide
CloudSpeed      .byte $60, $80, $A0, $C0, $D8, $E8, $F4, $FF    ; clocks/256 per frame
CloudColour     .byte $06, $1E, $0A
RocketDX        .byte 4, <-4, 0, 0
RocketDY        .byte 0, 0, <-2, 2
BalloonLo       .byte <BalloonCalm, <BalloonLit, <BalloonTorn
BalloonHi       .byte >BalloonCalm, >BalloonLit, >BalloonTorn
CloudLo         .byte <CloudDark, <CloudFlash, <CloudBurst
CloudHi         .byte >CloudDark, >CloudFlash, >CloudBurst
ProgressBar     .byte $00,$80,$C0,$E0,$F0,$F8,$FC,$FE

CodeEnd

; =============================================================================
; The maps: drawn in maps.txt
; =============================================================================
        include "maps.inc"

; =============================================================================
; Glyphs for the score, eight rows each, bottom row first, all in one page
; =============================================================================
Glyphs
        .byte %00111100,%01100110,%01100110,%01100110,%01100110,%01100110,%00111100,0 ; 0
        .byte %00111100,%00011000,%00011000,%00011000,%00011000,%00111000,%00011000,0 ; 1
        .byte %01111110,%01100000,%01100000,%00111100,%00000110,%01000110,%00111100,0 ; 2
        .byte %00111100,%01000110,%00000110,%00011100,%00000110,%01000110,%00111100,0 ; 3
        .byte %00001100,%00001100,%01111110,%01001100,%00101100,%00011100,%00001100,0 ; 4
        .byte %01111100,%01000110,%00000110,%01111100,%01100000,%01100000,%01111110,0 ; 5
        .byte %00111100,%01100110,%01100110,%01111100,%01100000,%01100010,%00111100,0 ; 6
        .byte %00011000,%00011000,%00011000,%00001100,%00000110,%01000010,%01111110,0 ; 7
        .byte %00111100,%01100110,%01100110,%00111100,%01100110,%01100110,%00111100,0 ; 8
        .byte %00111100,%01000110,%00000110,%00111110,%01100110,%01100110,%00111100,0 ; 9
GlyphBalloon
        .byte %00011000,%00011000,%00100100,%00111100,%01111110,%01111110,%00111100,0
GlyphGame
        .byte %00111100,%01100110,%01100110,%01101110,%01100000,%01100010,%00111100,0 ; G
    IF (>Glyphs) != (>(*-1))
        ECHO "glyphs cross a page"
        ERR
    ENDIF

; =============================================================================
; Colour by height, and the edges: one page
; =============================================================================
        ALIGN 256

; The land: each band of eight rows is a height, its lowest row the contour line.
        MAC BAND
        .byte {1}
        REPEAT 7
        .byte {2}
        REPEND
        ENDM
LandTab
        BAND $C0, $C4
        BAND $C2, $C6
        BAND $D2, $D6
        BAND $E2, $E6
        BAND $F2, $F6
        BAND $F2, $F8
        BAND $06, $0A
        BAND $08, $0C
        BAND $0A, $0E
        BAND $0A, $0E

; The sky: pale at the horizon, deep above.
SkyTab
        .byte $9E,$9E,$9E,$9E,$9E,$9E,$9E,$9E,$9E,$9E,$9E,$9E
        .byte $9C,$9C,$9C,$9C,$9C,$9C,$9C,$9C
        .byte $9A,$9A,$9A,$9A,$9A,$9A,$9A,$9A
        .byte $98,$98,$98,$98,$98,$98,$98,$98
        .byte $96,$96,$96,$96,$96,$96,$96,$96
        .byte $94,$94,$94,$94,$94,$94,$94,$94
        .byte $84,$84,$84,$84,$84,$84,$84,$84
        .byte $82,$82,$82,$82,$82,$82,$82,$82
        .byte $80,$80,$80,$80,$80,$80,$80,$80,$80,$80,$80,$80
        include "edges.inc"

; =============================================================================
; Shapes between zeros. Rows from the bottom up.
; =============================================================================
        MAC ZEROS
        REPEAT ROWS
        .byte 0
        REPEND
        ENDM

        ALIGN 256
        ZEROS
Dot                             ; missiles and ball: three rows. D1 is the bit that counts
        .byte $02,$02,$02
        ZEROS
BalloonCalm
        .byte %00111100
        .byte %00111100
        .byte %00100100
        .byte %01011010
        .byte %01111110
        .byte %11111111
        .byte %11111111
        .byte %11111111
        .byte %01111110
        .byte %00111100
        ZEROS
BalloonLit
        .byte %00111100
        .byte %00111100
        .byte %00111100
        .byte %01011010
        .byte %01111110
        .byte %11111111
        .byte %11111111
        .byte %11111111
        .byte %01111110
        .byte %00111100
        ZEROS
BalloonTorn
        .byte %00011000
        .byte %00111100
        .byte %00100100
        .byte %00011000
        .byte %00100100
        .byte %00101100
        .byte %01101010
        .byte %10011001
        .byte %01000010
        .byte %00000000
        ZEROS
CloudDark
        .byte %00000000
        .byte %00000000
        .byte %00000000
        .byte %01111110
        .byte %11111111
        .byte %11111111
        .byte %01111110
        .byte %00011000
        ZEROS
CloudFlash
        .byte %00001000
        .byte %00011000
        .byte %00001000
        .byte %01111110
        .byte %11100111
        .byte %11110011
        .byte %01100110
        .byte %00011000
        ZEROS
CloudBurst
        .byte %10010000
        .byte %00001010
        .byte %01000000
        .byte %00011001
        .byte %10011000
        .byte %01000010
        .byte %00000000
        .byte %10010010
        ZEROS

    IF (>(Dot-ROWS)) != (>(Dot+ROWS))
        ECHO "the dot and its zeros must share a page"
        ERR
    ENDIF

        ECHO "CONTOUR: code ends at", CodeEnd, "(room to $F700), shapes at", *, "(room to $FFFA)"

; =============================================================================
; Vectors
; =============================================================================
        ORG $FFFA
        .word Start             ; NMI, which the 6507 does not have
        .word Start             ; RESET
        .word Start             ; BRK
