/* grad.cu: a product, launch after launch (grad.h). */
#include <cuda_runtime.h>

#define VCS_DEVICE_ONLY
#include "grad.h"

#define TRY(call)                         \
  do {                                    \
    const vcs_fault_t *fault_ = call;     \
    if (fault_ != nullptr) return fault_; \
  } while (0)

const vcs_fault_t *vcs_grad_product(const struct vcs_device_batch_grad_view *given, void *stream) {
  vcs_device_batch_grad_view_t view = *given;
  cudaStream_t queue = static_cast<cudaStream_t>(stream);
  const bool bit = view.method == VCS_METHOD_BIT;
  TRY(vcs_grad_forward(&view, queue));
  TRY(bit ? vcs_grad_bit_begin(&view, queue) : vcs_grad_ste_begin(&view, queue));
  for (int32_t i = 0; i < view.frames; i++) {
    view.frame = view.reverse ? view.frames - 1 - i : i;
    const bool picture =
        !bit && view.outputs.pixels != nullptr && !(view.last_picture_only && view.frame + 1 < view.frames);
    TRY(vcs_grad_record(&view, queue));
    if (picture && view.reverse) TRY(vcs_grad_picture(&view, queue));
    TRY(bit ? vcs_grad_bit_walk(&view, queue) : vcs_grad_ste_walk(&view, queue));
    if (picture && !view.reverse) TRY(vcs_grad_picture(&view, queue));
  }
  return bit ? vcs_grad_bit_end(&view, queue) : vcs_grad_ste_end(&view, queue);
}
