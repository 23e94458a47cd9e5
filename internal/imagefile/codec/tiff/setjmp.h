/* A failure ends the instance: what jumps back to nothing traps. */
#ifndef SETJMP_H
#define SETJMP_H
typedef int jmp_buf[1];
#define setjmp(b) ((void)(b), 0)
#define longjmp(b, v) ((void)(b), (void)(v), __builtin_trap())
#endif
