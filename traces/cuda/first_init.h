/* first_init.h: a function that is called after the C library's own start-up code and before that of all other
 * files. For libwarpwatt-static.so. */
#ifndef WW_TRACES_CUDA_FIRST_INIT_H
#define WW_TRACES_CUDA_FIRST_INIT_H

/* From a constructor of a library that is linked with -z initfirst. `call` runs once, at once if the C library
 * is ready. */
void ww_first_init(void (*call)(void));

#endif
