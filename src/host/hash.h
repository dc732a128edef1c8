/* hash.h: fingerprints.
 *
 * MD5 identifies a cartridge (every Atari database lists games by it), SHA-256 identifies files that tests and papers
 * depend on, CRC-32 compares screens and RAM with the records. vcs_hash64 is XXH64: several gigabytes a second, 64
 * bits, not cryptographic; it compares machine states and frames, and detects damaged save files. All of them give the
 * same result on every machine.
 */
#ifndef VCS_HOST_HASH_H
#define VCS_HOST_HASH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { VCS_MD5_HEX = 33, VCS_SHA256_HEX = 65 }; /* text sizes, with the closing zero */

void vcs_md5(const void *data, size_t size, char hex[VCS_MD5_HEX]);
void vcs_sha256(const void *data, size_t size, char hex[VCS_SHA256_HEX]);
uint32_t vcs_crc32(const void *data, size_t size);
uint32_t vcs_crc32_on(uint32_t before, const void *data, size_t size); /* continues the CRC-32 `before` */
uint64_t vcs_hash64(const void *data, size_t size, uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif
