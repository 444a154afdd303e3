/* trace_program.h: recording a program that uses CUDA (warpwatt trace record -- PROGRAM ARGUMENTS). */
#ifndef WW_CMD_TRACE_PROGRAM_H
#define WW_CMD_TRACE_PROGRAM_H

#include "../api/record.h"
#include "cmd.h"

/* Runs the program of the command line under the recording CUDA runtime; *line->program_status is the program's
 * own exit status. Errors: WW_USAGE, WW_IO (the program cannot be started), WW_UNSUPPORTED (cudart is linked
 * statically, closed libraries), the recording's own if the program itself ended with 0. */
enum ww_code ww_cmd_trace_program(const struct cmd_line *line, struct ww_error *error);
/* What is run and recorded: --code, else WARPWATT_CODE, else auto. Errors: WW_USAGE, also for --ptxas-options
 * where nothing is compiled. */
enum ww_code ww_cmd_record_code(const struct cmd_line *line, enum ww_record_code *code, struct ww_error *error);

#endif
