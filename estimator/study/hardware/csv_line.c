/* Lines of a CSV as cells. */
#include "hardware.h"

bool ww_csv_cut(char *line, char **cell, size_t most, size_t *count) {
    char *from = line, *to = line;
    *count = 0;
    for (bool more = true; more;) {
        if (*count == most) return false;
        cell[(*count)++] = to;
        bool quoted = *from == '"';
        if (quoted) from++;
        for (; *from && (quoted || *from != ','); from++) {
            if (quoted && *from == '"' && from[1] != '"') break;
            if (quoted && *from == '"') from++;
            *to++ = *from;
        }
        if (quoted && *from++ != '"') return false;
        more = *from == ',';
        if (!more && *from) return false;
        if (more) from++;
        *to++ = 0;
    }
    return true;
}
