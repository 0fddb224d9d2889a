/* The C interface of Cantus: the instructions of a coding agent for one invocation. Made from the code by cbindgen; don't edit.
 *
 * Memory: what a function of the name `..._new`, `cantus_render` or `cantus_begin` gives is yours and goes with the `..._free`
 * of its kind, once. Texts belong to the object that they were asked of and live as long, unless the function says less; copy
 * what you keep. What you hand in is read before the function returns. Nothing here uses your allocator, or you its.
 *
 * Threads: a composer may serve many threads at once. A bundle may be read by many. An invocation takes one thread at a time.
 *
 * Texts: UTF-8 that ends in a NUL. Paths, arguments and values of the environment are bytes as the system has them on Unix, and
 * UTF-8 on Windows.
 *
 * Errors: no function fails your call of the provider, and no panic leaves the library. Null is allowed wherever an object or
 * a text goes in, and means none.
 *
 * Versions: CANTUS_ABI grows when a program made for an earlier header would go wrong. Compare it with cantus_abi(), and go on
 * only if they are equal. Functions may be added without that. */

#ifndef CANTUS_H
#define CANTUS_H

#include <stddef.h>
#include <stdint.h>

/**
 * The version of this interface. It grows when a program that was made for an earlier one would go wrong.
 */
#define CANTUS_ABI 1

/**
 * What became of a render.
 */
typedef enum CantusResult {
  /**
   * There is a bundle.
   */
  CANTUS_RESULT_DONE = 0,
  /**
   * The project is at fault, or there is none.
   */
  CANTUS_RESULT_REFUSED = 1,
  /**
   * An argument is not what it must be.
   */
  CANTUS_RESULT_USAGE = 2,
  /**
   * A fault of Cantus.
   */
  CANTUS_RESULT_FAULT = 3,
} CantusResult;

/**
 * How a bundle reaches an agent.
 */
typedef enum CantusStatus {
  /**
   * The launcher hands it over.
   */
  CANTUS_STATUS_EXPLICIT = 0,
  /**
   * The provider reads its own files.
   */
  CANTUS_STATUS_INHERITS_NATIVE = 1,
  /**
   * The conversation has it already.
   */
  CANTUS_STATUS_INHERITS_ROOT = 2,
  /**
   * It doesn't.
   */
  CANTUS_STATUS_NONE = 3,
} CantusStatus;

/**
 * Who reads a bundle.
 */
typedef enum CantusReader {
  /**
   * The agent that owns the turn.
   */
  CANTUS_READER_ROOT = 0,
  /**
   * An agent that a root agent starts with the provider's own means.
   */
  CANTUS_READER_HELPER = 1,
  /**
   * A person at the provider's prompt.
   */
  CANTUS_READER_INTERACTIVE = 2,
  /**
   * A document for other places, without the user's own layer.
   */
  CANTUS_READER_EXPORT = 3,
} CantusReader;

/**
 * A bundle, or why there is none.
 */
typedef struct CantusBundle CantusBundle;

/**
 * Renders bundles of one project. Many threads may use one at once.
 */
typedef struct CantusComposer CantusComposer;

/**
 * One call of a provider. One thread at a time may use it.
 */
typedef struct CantusInvocation CantusInvocation;

/**
 * A text that belongs to the object it was asked of. It lives as long as that object, unless the function that gave
 * it says less.
 */
typedef struct CantusText {
  /**
   * Its bytes, UTF-8, with a NUL behind them. Never null.
   */
  const char *data;
  /**
   * How many bytes it has; the NUL is not counted. The bytes of a bundle may themselves hold a NUL.
   */
  size_t length;
} CantusText;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the interface that this library has; a program goes on only if it is the `CANTUS_ABI` it was made for.
 */
uint32_t cantus_abi(void);

/**
 * The version of Cantus, such as `0.1.0`. It lives as long as the library is loaded.
 */
const char *cantus_version(void);

/**
 * Looks for a project from `folder` upward. `home` is the folder of the user's own layer, null for none. What is wrong
 * shows when it renders.
 *
 * Gives null only if `folder` is null. The result is to be freed with `cantus_composer_free`.
 */
struct CantusComposer *cantus_composer_new(const char *folder,
                                           const char *home);

/**
 * Frees a composer. Null is nothing.
 */
void cantus_composer_free(struct CantusComposer *composer);

/**
 * Renders the bundle of `provider` (null for the one without a provider, which is committed) for a reader, one of
 * `CantusReader`.
 *
 * Never gives null. The result is to be freed with `cantus_bundle_free`, and says with `cantus_bundle_result` whether
 * there is a bundle.
 */
struct CantusBundle *cantus_render(const struct CantusComposer *composer,
                                   const char *provider,
                                   int32_t reader);

/**
 * What became of the render; `Usage` for null.
 */
enum CantusResult cantus_bundle_result(const struct CantusBundle *bundle);

/**
 * The bundle's text, empty if there is none.
 */
struct CantusText cantus_bundle_text(const struct CantusBundle *bundle);

/**
 * The bundle's manifest, version 2, as JSON; its delivery is a preview. Empty if there is no bundle.
 */
struct CantusText cantus_bundle_manifest(const struct CantusBundle *bundle);

/**
 * Why there is no bundle, for people to read; empty if there is one.
 */
struct CantusText cantus_bundle_error(const struct CantusBundle *bundle);

/**
 * Frees a bundle and the texts that it gave. Null is nothing.
 */
void cantus_bundle_free(struct CantusBundle *bundle);

/**
 * Prepares a call: renders, records in the folder `artifacts` (null for nowhere), makes what is to be handed over.
 *
 * `request` is JSON: `{"version": 1, "provider": "claude"}` and any of `agent`, `agent_type`, `model`, `purpose`,
 * `parent`, `resume`, `run_name`, `folder`, `program`, `deliver` (false: the provider reads its own files) and `sections`,
 * a list of `{"id", "text", "budget", "pointer", "volatile"}`, the host's own texts.
 *
 * Never gives null, and never fails: a call that can't be prepared, be it for a slip in the request, hands over nothing,
 * and `cantus_troubles` says why. The result is to be freed with `cantus_invocation_free`.
 */
struct CantusInvocation *cantus_begin(const struct CantusComposer *composer,
                                      const char *request,
                                      const char *artifacts);

/**
 * How the bundle reaches the agent, as far as is known by now; `None` for null. It can change when the arguments are made
 * and when the call ends.
 */
enum CantusStatus cantus_invocation_status(const struct CantusInvocation *invocation);

/**
 * The id of the invocation, a UUID: later requests name it as `parent` or `resume`. Empty if it couldn't be prepared.
 */
struct CantusText cantus_invocation_id(const struct CantusInvocation *invocation);

/**
 * Why the provider's own files stand in, `{"reason", "detail"}` as JSON; empty if they stand in for nothing. It lives until
 * the arguments are made or the call ends.
 */
struct CantusText cantus_fallback(const struct CantusInvocation *invocation);

/**
 * What has gone wrong so far, a JSON list of texts for people. It lives until the call ends.
 */
struct CantusText cantus_troubles(const struct CantusInvocation *invocation);

/**
 * Makes the arguments that the provider's program gets instead of `args`, those behind its first word, and gives their
 * number; they are read with `cantus_argument`. Where the bundle can't be put among them whole, they are `args`, and the
 * status says so.
 */
size_t cantus_arguments(struct CantusInvocation *invocation,
                        const char *const *args,
                        size_t count);

/**
 * The argument at `index`, from 0; null if there is none. It lives until the arguments are made anew.
 */
const char *cantus_argument(const struct CantusInvocation *invocation,
                            size_t index);

/**
 * How many variables the child's environment must have besides; the environment of this process is not touched.
 */
size_t cantus_env_count(const struct CantusInvocation *invocation);

/**
 * The name of the variable at `index`, from 0; null if there is none. It lives until the call ends.
 */
const char *cantus_env_name(const struct CantusInvocation *invocation, size_t index);

/**
 * The value of the variable at `index`, from 0; null if there is none. It lives until the call ends.
 */
const char *cantus_env_value(const struct CantusInvocation *invocation,
                             size_t index);

/**
 * The name of the variable that says where the bundle lies. Where it isn't among the variables of the child, the child
 * must not inherit it either: it would speak of another invocation.
 */
struct CantusText cantus_variable(const struct CantusInvocation *invocation);

/**
 * What must reach the agent, for a launcher with a channel of its own, which then doesn't ask for arguments; empty where
 * nothing must. It lives until the call ends.
 */
struct CantusText cantus_text(struct CantusInvocation *invocation);

/**
 * Tells that the hand-over failed, for the record: the provider reads its own files. `detail` is for people.
 */
void cantus_undelivered(struct CantusInvocation *invocation,
                        const char *detail);

/**
 * Tells which session of the provider the invocation is, for the record; each is kept once.
 */
void cantus_record_session(struct CantusInvocation *invocation, const char *id);

/**
 * Tells the version of the provider's program, for the record.
 */
void cantus_record_cli_version(struct CantusInvocation *invocation, const char *version);

/**
 * Tells how the provider's process ended, for the record: its exit status, 128 and the signal if one ended it.
 */
void cantus_record_exit(struct CantusInvocation *invocation,
                        int32_t status);

/**
 * Ends the call: what was told is recorded, and its private files go. Status, fallback and troubles are then final. Once is
 * enough; null is nothing.
 */
void cantus_finish(struct CantusInvocation *invocation);

/**
 * Ends the call if it goes on, and frees the invocation with all that it gave. Null is nothing.
 */
void cantus_invocation_free(struct CantusInvocation *invocation);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CANTUS_H */
