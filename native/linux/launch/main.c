/*
 * cordon-launch: runs a command inside a boundary that its broker describes.
 *
 * Stages, one function each: find the broker, say hello, receive and check
 * the plan; clone; the child builds the boundary from inside and becomes
 * pid 1; the parent supervises. Nothing of the command runs before both are
 * ready, and there is no way to run it without the boundary.
 *
 * Policy comes from the plan alone. Our environment and working directory
 * only find the broker, our arguments are only the command.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "../../common/limits.h"
#include "../supervisor/signals.h"
#include "../supervisor/supervise.h"
#include "../supervisor/terminal.h"
#include "caps.h"
#include "environment.h"
#include "guards.h"
#include "init.h"
#include "landlock.h"
#include "mounts.h"
#include "namespaces.h"
#include "probe.h"
#include "seccomp.h"

/* What a launch needs up to the moment when the command runs. */
struct launch {
	struct supervisor sup;
	struct plan plan;
	struct json_arena arena;
	char directory[PATH_BYTES_MAX];
	char host_name[HOST_NAME_MAX + 1];
	struct command command;
};

/* Before anything is opened */

static void replace_descriptor(int fd, const char *why)
{
	static const char *const names[] = { "input", "output", "error" };
	AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || (null != fd && dup2(null, fd) < 0))
		die("descriptors", errno, "could not open /dev/null");
	if (null == fd) {
		(void)fcntl(fd, F_SETFD, 0);
		(void)TAKE(null);
	}
	if (why)
		dprintf(STDERR_FILENO,
			"cordon: standard %s is %s, which would lead out of "
			"the sandbox; it is /dev/null instead\n",
			names[fd], why);
}

/*
 * The three descriptors that the command inherits. A directory or an O_PATH
 * one would be a way out: openat(fd, "..") walks the host's mounts. Closed
 * ones are filled, so that nothing of ours gets their numbers.
 */
static void check_standard_descriptors(void)
{
	for (int fd = 0; fd < 3; fd++) {
		int flags = fcntl(fd, F_GETFL);
		struct stat status;

		if (flags < 0 || fstat(fd, &status))
			replace_descriptor(fd, NULL);
		else if (S_ISDIR(status.st_mode))
			replace_descriptor(fd, "a directory");
		else if (flags & O_PATH)
			replace_descriptor(fd, "an O_PATH descriptor");
	}
}

/* Hello and plan */

void write_hello(const struct supervisor *sup, struct json_writer *w)
{
	size_t left = HELLO_ARGUMENTS_MAX;

	json_open_frame(w, "hello");
	json_member_integer(w, "protocol", 1);
	json_member_integer(w, "pid", getpid());
	json_member_string(w, "directory", sup->directory);
	json_key(w, "arguments");
	json_open_array(w);
	for (char *const *argument = sup->arguments; *argument; argument++) {
		size_t length = strlen(*argument);

		if (length > left)
			break;
		left -= length;
		json_bytes(w, *argument, length);
	}
	json_close_array(w);
	json_key(w, "terminal");
	json_boolean(w, isatty(STDIN_FILENO));
	json_key(w, "run");
	if (sup->welcomed)
		json_string(w, sup->plan->run);
	else
		json_null(w);
	json_close_object(w);
}

static void find_directory(struct launch *launch)
{
	if (!getcwd(launch->directory, sizeof(launch->directory)))
		die("directory", errno, "could not tell the working directory");
	if (!is_plain_path(launch->directory))
		die("directory", 0, "the working directory is unreachable");
	launch->sup.directory = launch->directory;
}

static void connect_broker(struct launch *launch)
{
	AUTO_WRITER struct json_writer hello = { 0 };
	struct supervisor *sup = &launch->sup;
	const char *what = NULL;
	int fd = -1, err;

	err = discover_broker(launch->directory, &fd, &what);
	if (err == -ENOENT)
		die("broker", 0,
		    "nobody decides for %s, so nothing was run: open this "
		    "folder in VS Code with Cordon, or use `cordon run`",
		    launch->directory);
	if (err)
		die("broker", -err, "%s", what);
	die_reports_to(fd);
	frame_open(&sup->channel, fd, FRAME_PLAN_MAX);
	write_hello(sup, &hello);
	err = frame_send(&sup->channel, &hello);
	if (!err)
		err = frame_flush_wait(&sup->channel, PLAN_WAIT_MS);
	if (err)
		die("broker", -err, "could not say hello to the broker");
}

/* The broker has its reason not to send a plan; it is told as it is. */
static _Noreturn void die_refused(const struct json *frame)
{
	static const char *const keys[] = { "kind", "code", "message" };
	const char *message = json_as_string(json_member(frame, "message"));

	if (json_expect_keys(frame, keys, ARRAY_SIZE(keys)) || !message)
		die("plan", EBADMSG, "the broker sent a broken frame");
	die_reports_to(-1);
	die("plan", 0, "refused: %s", message);
}

static void receive_plan(struct launch *launch)
{
	struct supervisor *sup = &launch->sup;
	const struct json *frame;
	const char *what = "JSON", *kind;
	char *text, *copy;
	size_t length;
	int err;

	err = frame_read_wait(&sup->channel, PLAN_WAIT_MS, &text, &length);
	if (err < 0)
		die("plan", -err, "the broker sent no plan");
	/* The plan's strings stay in the text for the whole run. */
	copy = json_allocate(&launch->arena, length + 1);
	if (!copy)
		die("plan", ENOMEM, "could not keep the plan");
	memcpy(copy, text, length);
	err = json_parse(copy, length, &launch->arena, &frame);
	kind = err ? NULL : json_as_string(json_member(frame, "kind"));
	if (kind && strcmp(kind, "error") == 0)
		die_refused(frame);
	if (!err && (!kind || strcmp(kind, "plan") != 0)) {
		what = "kind";
		err = -EBADMSG;
	}
	if (!err)
		err = plan_parse(frame, &launch->arena, &launch->plan, &what);
	if (err)
		die_because("plan", -err, what,
			    "could not accept the broker's plan");
	sup->plan = &launch->plan;
	sup->channel.limit = FRAME_MAX;
}

/* What is needed of the outside before it is left behind. */
static void prepare_command(struct launch *launch, char **arguments)
{
	struct command *command = &launch->command;
	struct rlimit raised;
	int err;

	command->arguments = arguments;
	err = build_environment(&launch->plan, environ, &launch->arena,
				&command->environment);
	if (err)
		die("environment", -err, "could not make the environment");
	if (gethostname(launch->host_name, sizeof(launch->host_name)))
		launch->host_name[0] = '\0';
	/* Many roots, many connections: the command gets its own limit back. */
	if (getrlimit(RLIMIT_NOFILE, &command->files))
		die("limits", errno, "could not read the descriptor limit");
	raised = command->files;
	raised.rlim_cur = raised.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &raised);
	find_terminals(command->replaced);
	command->terminal = -1;
	command->own_session = launch->plan.terminal_relayed;
	block_signals(&command->mask);
}

/* The child */

static int open_sandbox_root(void)
{
	int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		die("mounts", errno, "could not open /");
	return root;
}

static void close_handed_over(const struct hand_over *given)
{
	close_quietly(given->root);
	close_quietly(given->listener);
	close_quietly(given->terminal);
}

/*
 * lock_down() - no way back from here
 * Does:  the filter, then without a listener the plan's guards, which need to
 *        be mounted; drops capabilities, sets no_new_privs, Landlock scope
 * Needs: mounts and network in place; afterwards neither can be changed.
 *        From the filter on no call may be made that is held: nobody answers
 */
static void lock_down(const struct plan *plan, struct hand_over *given)
{
	struct guards *guards = open_guards(plan);
	int err = install_filter(&given->listener);

	if (err)
		die("seccomp", -err, "could not install the call filter");
	if (given->listener < 0) {
		given->gaps |= GAP_LISTENER;
		apply_guards(plan, guards);
	} else {
		close_guards(guards);
	}
	err = drop_privileges();
	if (err)
		die("capabilities", -err, "could not drop the capabilities");
	err = restrict_scope();
	if (err < 0)
		die("landlock", -err, "could not limit signals and sockets");
	if (err)
		given->gaps |= GAP_SCOPE;
}

/* Only terminals are replaced; without any there is nothing to relay. */
static bool has_own_terminal(const struct launch *launch)
{
	const bool *replaced = launch->command.replaced;

	return launch->plan.terminal_relayed &&
	       (replaced[0] || replaced[1] || replaced[2]);
}

static _Noreturn void run_child(struct launch *launch, int control, uid_t user,
				gid_t group)
{
	struct hand_over given = { .listener = -1, .terminal = -1 };
	struct view view = { .terminal = -1,
			     .host_name = launch->host_name,
			     .owner_is_root = user == 0,
			     .control = control };
	int err;

	die_reports_to(control);
	err = map_identity(user, group);
	if (err)
		die_without_namespaces(-err, user == 0);
	for (int fd = 0; fd < 3 && !launch->plan.terminal_relayed; fd++)
		if (launch->command.replaced[fd])
			view.terminal = fd;
	given.gaps = isolate_filesystem(&launch->plan, &view);
	if (has_own_terminal(launch)) {
		err = create_terminal(&given.terminal,
				      &launch->command.terminal);
		if (err)
			die("terminal", -err, "could not make a terminal");
	}
	given.root = open_sandbox_root();
	lock_down(&launch->plan, &given);
	err = send_hand_over(control, &given);
	if (err)
		die("hand-over", -err, "could not reach the supervisor");
	close_handed_over(&given);
	run_init(control, &launch->command);
}

static _Noreturn void launch_command(char **arguments)
{
	/* Static: large, and lives as long as the process. */
	static struct launch launch;
	struct supervisor *sup = &launch.sup;
	uid_t user = geteuid();
	gid_t group = getegid();
	int control[2] = { -1, -1 };

	check_standard_descriptors();
	sup->arguments = arguments;
	sup->channel.fd = -1;
	find_directory(&launch);
	connect_broker(&launch);
	receive_plan(&launch);
	prepare_command(&launch, arguments);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control))
		die("control", errno, "could not make the control socket");
	sup->init = clone_into_namespaces(&sup->init_pidfd);
	if (sup->init < 0)
		die_without_namespaces(-sup->init, false);
	if (sup->init == 0) {
		close_quietly(control[0]);
		frame_close(&sup->channel);
		run_child(&launch, control[1], user, group);
	}
	close_quietly(control[1]);
	sup->control = control[0];
	supervise(sup, launch.command.replaced);
}

static _Noreturn void print_usage(int fd, int code)
{
	static const char text[] =
		"usage: cordon-launch [--] COMMAND [ARGUMENT]...\n"
		"       cordon-launch --probe | --version | --help\n"
		"\n"
		"Runs COMMAND inside the boundary that a Cordon broker\n"
		"describes: the one named by CORDON_BROKER, or the window\n"
		"that has the working directory open. Exit code: the\n"
		"command's, 128 + n for signal n, 125 no boundary,\n"
		"126 not executable, 127 not found.\n";

	write_all(fd, text, sizeof(text) - 1);
	exit(code);
}

int main(int argc, char **argv)
{
	char **command = argv + 1;

	if (argc < 2)
		print_usage(STDERR_FILENO, EXIT_SET_UP);
	if (strcmp(argv[1], "--help") == 0)
		print_usage(STDOUT_FILENO, 0);
	if (strcmp(argv[1], "--version") == 0) {
		(void)puts("cordon-launch " CORDON_VERSION " (protocol 1)");
		return 0;
	}
	if (strcmp(argv[1], "--probe") == 0)
		return print_probe();
	if (strcmp(argv[1], "--") == 0)
		command++;
	else if (argv[1][0] == '-')
		print_usage(STDERR_FILENO, EXIT_SET_UP);
	if (!*command)
		print_usage(STDERR_FILENO, EXIT_SET_UP);
	launch_command(command);
}
