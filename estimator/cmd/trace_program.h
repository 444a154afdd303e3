/* trace_program.h: recording a program that uses CUDA (warpwatt trace record -- PROGRAM ARGUMENTS). */
#ifndef WW_CMD_TRACE_PROGRAM_H
#define WW_CMD_TRACE_PROGRAM_H

#include "cmd.h"

/* Runs the program of the command line under the recording CUDA runtime; *line->program_status is the program's
 * own exit status. Errors: WW_USAGE, WW_IO (the program cannot be started), WW_UNSUPPORTED (cudart is linked
 * statically, closed libraries), the recording's own if the program itself ended with 0. */
enum ww_code ww_cmd_trace_program(const struct cmd_line *line, struct ww_error *error);

#endif
