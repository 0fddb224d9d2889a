/* A launcher in C: runs a provider's program with the instructions of the project around the working folder.
 *
 *     cc -I crates/cantus-capi/include examples/c/launcher.c -L target/release -lcantus_capi -o launcher
 *     ./launcher claude ARTIFACTS claude -p "Say hello"
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cantus.h"

/* Becomes the provider's program; argv[0] is its name. */
static void become(const CantusInvocation *call, char **argv) {
    unsetenv(cantus_variable(call).data);
    for (size_t i = 0; i < cantus_env_count(call); i++)
        setenv(cantus_env_name(call, i), cantus_env_value(call, i), 1);
    execvp(argv[0], argv);
    perror(argv[0]);
    _exit(127);
}

int main(int argc, char **argv) {
    if (argc < 4 || cantus_abi() != CANTUS_ABI) {
        fprintf(stderr, "usage: launcher PROVIDER ARTIFACTS COMMAND [ARGS...]\n");
        return 2;
    }
    char request[256];
    snprintf(request, sizeof request, "{\"version\": 1, \"provider\": \"%s\", \"agent\": \"example\"}", argv[1]);
    CantusComposer *composer = cantus_composer_new(".", NULL);
    CantusInvocation *call = cantus_begin(composer, request, argv[2]);

    size_t count = cantus_arguments(call, (const char *const *)argv + 4, (size_t)argc - 4);
    char **command = calloc(count + 2, sizeof *command);
    command[0] = argv[3];
    for (size_t i = 0; i < count; i++)
        command[i + 1] = (char *)cantus_argument(call, i);

    pid_t child = fork();
    if (child == 0)
        become(call, command);
    int status = 0, code = 1;
    if (child > 0 && waitpid(child, &status, 0) == child)
        code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

    cantus_record_exit(call, code);
    cantus_finish(call);
    fprintf(stderr, "status %d, troubles %s\n", (int)cantus_invocation_status(call), cantus_troubles(call).data);
    free(command);
    cantus_invocation_free(call);
    cantus_composer_free(composer);
    return code;
}
