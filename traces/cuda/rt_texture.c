/* rt_texture.c: texture and surface objects. */
#include "core.h"

RT_EXPORT int cudaCreateTextureObject(unsigned long long *out, const rt_resource *r, const rt_texture *t,
                                      const void *view) {
    RT_ENTER;
    return ww_rt_set(ww_rt_texture_new(out, r, t, view));
}

RT_EXPORT int cudaCreateSurfaceObject(unsigned long long *out, const rt_resource *r) {
    RT_ENTER;
    return ww_rt_set(ww_rt_surface_new(out, r));
}

RT_EXPORT int cudaDestroyTextureObject(unsigned long long handle) {
    RT_ENTER;
    return ww_rt_set(ww_rt_texture_free(handle, false));
}

RT_EXPORT int cudaDestroySurfaceObject(unsigned long long handle) {
    RT_ENTER;
    return ww_rt_set(ww_rt_texture_free(handle, true));
}
