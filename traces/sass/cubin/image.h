/* image.h: what a program hands over as a module: a fat binary, machine code (an ELF file) or PTX text that
 * ends with 0; its length is not given. What is read is not trusted. */
#ifndef WW_TRACES_SASS_IMAGE_H
#define WW_TRACES_SASS_IMAGE_H

#include <stdint.h>

enum ww_image_form { WW_IMAGE_FATBIN, WW_IMAGE_CUBIN, WW_IMAGE_PTX };

/* Form and bytes of the image at `data`, of which `n` can be read; 0: it is none, or does not end within them.
 */
uint64_t ww_image_bytes(const void *data, uint64_t n, enum ww_image_form *form);

#endif
