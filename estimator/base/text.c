#include "text.h"
#include <math.h>

void ww_three_digits(double v, char out[32]) {
    double a = fabs(v);
    snprintf(out, 32, a >= 999.5 && a < 1e15 ? "%.0f" : "%.3g", v);
}
