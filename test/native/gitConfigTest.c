/*
 * gitConfig.c and gitKeys.c: git itself says what a file means. Files are made
 * from the pieces that the syntax is about, in every order; whatever git reads
 * must give the same entries here.
 */
#include "linux/rules/gitConfig.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/wait.h>

#include "check.h"
#include "common/limits.h"

enum { GENERATED = 300, GENERATED_PIECES = 9, LISTED_BYTES_MAX = 1 << 16 };

static char path[] = "/tmp/cordon-config-XXXXXX";

static void write_file(const char *bytes, size_t length)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
		exit(1);
	(void)close(fd);
}

/* Entries as `git config --list -z` prints them; -1: git cannot read it. */
static ssize_t list_by_git(char text[LISTED_BYTES_MAX])
{
	char command[256];
	size_t length;
	FILE *pipe;

	(void)snprintf(command, sizeof(command),
		       "exec env -i PATH=\"$PATH\" GIT_CONFIG_NOSYSTEM=1 "
		       "git config --list -z --file %s 2>/dev/null",
		       path);
	/* NOLINTNEXTLINE(cert-env33-c): the command is ours */
	pipe = popen(command, "re");
	if (!pipe)
		exit(1);
	length = fread(text, 1, LISTED_BYTES_MAX, pipe);
	return pclose(pipe) == 0 ? (ssize_t)length : -1;
}

/* The same of ours; without memory there is no test. */
static size_t list_by_us(const struct config *config, char *text)
{
	char *at = text;

	for (size_t i = 0; i < config->count; i++) {
		const struct config_entry *e = &config->entries[i];

		at += sprintf(at, "%s%s%s%s%s%s%s", e->section,
			      e->section[0] || e->subsection ? "." : "",
			      e->subsection ? e->subsection : "",
			      e->subsection ? "." : "", e->name,
			      e->value ? "\n" : "", e->value ? e->value : "");
		*at++ = '\0';
	}
	return (size_t)(at - text);
}

static void print_bytes(const char *what, const char *bytes, size_t length)
{
	printf("# %s: ", what);
	for (size_t i = 0; i < length; i++)
		printf(bytes[i] < ' ' || bytes[i] > '~' ? "\\x%02x" : "%c",
		       (unsigned char)bytes[i]);
	printf("\n");
}

/* Newer versions of git keep tabs inside of a value. */
static void tabs_to_blanks(char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\t')
			text[i] = ' ';
	}
}

/* Returns whether git reads it. */
static bool compare_with_git(const char *bytes, size_t length)
{
	static char theirs[LISTED_BYTES_MAX], ours[LISTED_BYTES_MAX];
	struct config config = { 0 };
	size_t our_length = 0;
	ssize_t their_length;
	int err;

	write_file(bytes, length);
	their_length = list_by_git(theirs);
	err = config_parse(bytes, length, &config);
	if (!err)
		our_length = list_by_us(&config, ours);
	config_free(&config);
	if (their_length < 0)
		return false;
	tabs_to_blanks(theirs, (size_t)their_length);
	tabs_to_blanks(ours, our_length);
	if (err || (size_t)their_length != our_length ||
	    memcmp(theirs, ours, our_length) != 0) {
		print_bytes("file", bytes, length);
		print_bytes("git", theirs, (size_t)their_length);
		print_bytes(err ? "refused" : "ours", ours, our_length);
		check_failed = true;
	}
	return true;
}

static void reads_what_git_reads(void)
{
	static const char *const texts[] = {
		"",
		"\n",
		"[a]\nb=c",
		"[a]\n\tb = c\n",
		"[A]\nB = C\n",
		"[a] b = c\n",
		"[a]b=c\n",
		"[a]\nb\n",
		"[a]\nb ; x\n",
		"[a]\nb =\n",
		"[a]\nb = \"\"\n",
		"[a]\nb = c ; d\n",
		"[a]\nb = c # d\n",
		"[a]\nb = \"c ; d\"\n",
		"[a]\nb = c\\\n d\n",
		"[a]\nb = \"c\\\n d\"\n",
		"[a]\nb = c\\\\\n",
		"[a]\nb = \\\"c\\\"\\t\\n\\b\n",
		"[a]\nb = c  d\te \n",
		"[a]\nb = \" c \" \n",
		"[a]\nb = \"c\"d\"e\"\n",
		"[a \"b\"]\nc = d\n",
		"[a \"B.c\"]\nd = e\n",
		"[a \"b\\\"c\\\\d\\e\"]\nf = g\n",
		"[a   \"b\"]\nc = d\n",
		"[a \"\"]\nc = d\n",
		"[a.B]\nc = d\n",
		"[a.b.c]\nd = e\n",
		"[a.b \"c\"]\nd = e\n",
		"[]\nb = c\n",
		"[.a]\nb = c\n",
		"[a.]\nb = c\n",
		"[ \"a\"]\nb = c\n",
		"[a-b]\nc-d = e\n",
		"[a1]\nb2 = c\n",
		"\xef\xbb\xbf[a]\nb = c\n",
		"\xef\xbb\xbf",
		"[a]\r\nb = c\r\n",
		"[a]\rb = c\r\n",
		"[a]\nb = c\rd\n",
		"[a]\nb = c\r",
		"# c\n; d\n[a]# e\nb=c\n",
		"[include]\npath = x\n[includeIf \"gitdir:/\"]\npath = y\n",
		"[a]\nb = c\n[a]\nb = d\n",
		"[a]\nb = \xc3\xa9\xff\n",
		"[a \"\xc3\xa9\"]\nb = c\n",
		"\f[a]\nb=c\n",
		"[a]\nb\f=c\n",
		"[a]\nb = c\fd\v\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		(void)compare_with_git(texts[i], strlen(texts[i]));
}

static void refuses_what_git_refuses(void)
{
	static const char *const texts[] = {
		"[",
		"[a",
		"[a\nb=c",
		"[a b]\n",
		"[a \"b\n\"]",
		"[a \"b\" ]",
		"[a \"b]\n",
		"[a]\n1b=c\n",
		"[a]\n=c\n",
		"[a]\nb c\n",
		"[a]\nb:c\n",
		"[a]\nb=\"c\n",
		"[a]\nb=\\x\n",
		"[a]\nb=\\\r\n",
		"\xef[a]\n",
		"\xef\xbb",
		"[a_b]\nc=d",
		"[a]\nb_c=d\n",
		"x]\n",
		"[a]\n\x01\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct config config = { 0 };
		bool is_read = compare_with_git(texts[i], strlen(texts[i]));

		if (!is_read &&
		    config_parse(texts[i], strlen(texts[i]), &config) == 0) {
			print_bytes("taken", texts[i], strlen(texts[i]));
			config_free(&config);
			check_failed = true;
		}
	}
}

static void refuses_zero_bytes(void)
{
	static const char text[] = "[core \"a\0b\"]\nc = d\0e\n";
	struct config config;

	CHECK(config_parse(text, sizeof(text) - 1, &config) == -EBADMSG);
	CHECK(config_parse("[a]\nb=c\0", 8, &config) == -EBADMSG);
}

static void limits_what_it_reads(void)
{
	size_t length = 4 + 2 * (CONFIG_ENTRIES_MAX + 1);
	char *text = malloc(CONTENT_BYTES_MAX + 1);
	struct config config;

	if (!text)
		exit(1);
	memset(text, '\n', CONTENT_BYTES_MAX + 1);
	CHECK(config_parse(text, CONTENT_BYTES_MAX + 1, &config) == -E2BIG);
	CHECK(config_parse(text, CONTENT_BYTES_MAX, &config) == 0);
	config_free(&config);
	memcpy(text, "[a]\n", 4);
	for (size_t i = 4; i < length; i += 2)
		memcpy(text + i, "b\n", 2);
	CHECK(config_parse(text, length, &config) == -E2BIG);
	CHECK(config_parse(text, length - 2, &config) == 0);
	CHECK(config.count == CONFIG_ENTRIES_MAX);
	config_free(&config);
	free(text);
}

/* xorshift: the same files in every run. */
static unsigned next_random(void)
{
	static uint64_t state = 88172645463325252U;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33);
}

static size_t generate(char *text)
{
	static const char *const pieces[] = {
		"[core]\n", "[a \"b\"]\n", "[a.b]",    "[A \"B\\\"c\"]",
		"[",	    "]",	   "\"",       "\\",
		"\n",	    "\r\n",	   "\r",       " ",
		"\t",	    "=",	   "#",	       ";",
		"key",	    "Key-1",	   "value",    "\\n",
		"\\t",	    "\\\n",	   "\\\"",     "fsmonitor = x",
		"a",	    ".",	   "\xc3\xa9", "\xef\xbb\xbf",
		"1",	    "-",	   "[a]\n",    "\nb = c\n",
		"\nkey = ", "\n[a \"b",	   "\"]\n",    "= \"x",
		"\" y\n",   "\f",
	};
	size_t length = 0, count = 1 + next_random() % GENERATED_PIECES;

	if (next_random() % 4)
		length += (size_t)sprintf(text, "[s]\n");
	while (count--) {
		const char *piece = pieces[next_random() % ARRAY_SIZE(pieces)];

		length += (size_t)sprintf(text + length, "%s", piece);
	}
	return length;
}

/* Enough of them must be files that git reads, else nothing was compared. */
static void agrees_with_git_on_generated_files(void)
{
	const char *wanted = getenv("CORDON_GENERATED");
	long count = wanted ? strtol(wanted, NULL, 10) : GENERATED;
	long read = 0;

	for (long i = 0; i < count; i++) {
		char text[512];

		read += compare_with_git(text, generate(text));
	}
	CHECK(read * 8 > count);
}

/* Settings */

static bool is_harmless(const char *text)
{
	const struct config_place place = {
		.directory = "/ws/.git/modules/lib/x",
	};
	struct config config = { 0 };
	bool harmless;

	if (config_parse(text, strlen(text), &config) || config.count != 1)
		exit(1);
	harmless = config_is_harmless(&config.entries[0], &place);
	config_free(&config);
	return harmless;
}

static void check_all(const char *const *texts, size_t count, bool harmless)
{
	for (size_t i = 0; i < count; i++) {
		if (is_harmless(texts[i]) != harmless) {
			print_bytes(harmless ? "asked" : "passed", texts[i],
				    strlen(texts[i]));
			check_failed = true;
		}
	}
}

static void passes_harmless_settings(void)
{
	static const char *const texts[] = {
		"[core]\nrepositoryformatversion = 0",
		"[Core]\nFileMode = true",
		"[core]\nbare",
		"[core]\nlogallrefupdates = true",
		"[core]\nsharedrepository = group",
		"[branch \"main\"]\nremote = origin",
		"[branch \"main\"]\nremote = .",
		"[branch \"a.b\"]\nmerge = refs/heads/a.b",
		"[branch \"main\"]\nrebase = true",
		"[branch \"main\"]\ndescription = \"a\\nb\"",
		"[remote \"origin\"]\nurl = https://example.com/a.git",
		"[remote \"origin\"]\nurl = git@example.com:a/b.git",
		"[remote \"origin\"]\nurl = ssh://[::1]/a",
		"[remote \"origin\"]\nurl = /srv/a.git",
		"[remote \"origin\"]\nurl = ../a",
		"[remote \"origin\"]\nurl = file:///srv/a",
		"[remote \"o\"]\nfetch = +refs/heads/*:refs/remotes/o/*",
		"[remote \"o\"]\ntagopt = --no-tags",
		"[submodule \"lib\"]\nurl = https://example.com/lib",
		"[submodule \"lib\"]\nactive = true",
		"[submodule \"lib\"]\nupdate = rebase",
		"[submodule]\nactive = .",
		"[extensions]\nworktreeConfig = true",
		"[extensions]\nobjectFormat = sha256",
		"[lfs]\nrepositoryformatversion = 0",
		"[lfs \"https://example.com/a\"]\naccess = basic",
		"[filter \"lfs\"]\nclean = git-lfs clean -- %f",
		"[filter \"lfs\"]\nrequired = true",
		"[core]\nworktree = ../../../../lib/x",
		"[core]\nworktree = ../../../../other",
		"[gc]\nauto = 0",
		"[pull]\nrebase = true",
	};

	check_all(texts, ARRAY_SIZE(texts), true);
}

static void asks_for_other_settings(void)
{
	static const char *const texts[] = {
		"[core]\nfsmonitor = ./a",
		"[core]\nfsmonitor",
		"[core]\nhooksPath = a",
		"[core]\nsshCommand = a",
		"[core]\neditor = a",
		"[core]\npager = a",
		"[core]\ngitProxy = a",
		"[core]\nattributesFile = a",
		"[core]\nalternateRefsCommand = a",
		"[core]\naskPass = a",
		"[core]\nprotectNTFS = false",
		"[core]\nprotectHFS = false",
		"[core]\nsharedrepository = world",
		"[core]\nsharedrepository = 0666",
		"[core \"x\"]\nbare = true",
		"[core]\nworktree = /home",
		"[core]\nworktree = ..",
		"[core]\nworktree = ../../../..",
		"[core]\nworktree = ../../../../../x",
		"[core]\nworktree = ../../../../.git/hooks",
		"[core]\nworktree = ../../../../GIT~1/hooks",
		"[core]\nworktree = ../../../../a/../.git",
		"[core]\nworktree = \"../../../../\xe2\x80\x8b.git\"",
		"[core]\nworktree = ../../../../lib/../../x",
		"[core]\nworktree",
		"[alias]\na = !b",
		"[filter \"a\"]\nclean = git-lfs clean -- %f",
		"[filter \"lfs\"]\nclean = \"git-lfs clean -- %f; a\"",
		"[filter \"lfs\"]\nprocess = ./git-lfs filter-process",
		"[diff \"a\"]\ntextconv = b",
		"[diff]\nexternal = a",
		"[merge \"a\"]\ndriver = b",
		"[mergetool \"a\"]\ncmd = b",
		"[credential]\nhelper = a",
		"[gpg]\nprogram = a",
		"[include]\npath = a",
		"[includeIf \"gitdir:/\"]\npath = a",
		"[url \"a\"]\ninsteadOf = b",
		"[http]\nproxy = a",
		"[pager]\nlog = a",
		"[sequence]\neditor = a",
		"[interactive]\ndiffFilter = a",
		"[uploadpack]\npackObjectsHook = a",
		"[remote \"a\"]\nuploadpack = b",
		"[remote \"a\"]\nreceivepack = b",
		"[remote \"a\"]\nproxy = b",
		"[remote \"a\"]\nvcs = b",
		"[remote \"a\"]\npromisor = true",
		"[remote \"a\"]\nurl = ext::sh -c a",
		"[remote \"a\"]\nurl = fd::3",
		"[remote \"a\"]\nurl = -a",
		"[remote \"a\"]\nurl = ssh://-a/b",
		"[remote \"a\"]\nurl = ssh://b@-a/b",
		"[remote \"a\"]\nurl = \"https://a\\nb\"",
		"[remote \"a\"]\nurl",
		"[remote \"a\"]\npushurl = ext::a",
		"[remote \"a\"]\ntagopt = --upload-pack=a",
		"[remote \"a\"]\nfetch = --upload-pack=a",
		"[branch \"a\"]\nremote = ext::a",
		"[branch \"a\"]\nremote = --upload-pack=a",
		"[branch \"a\"]\nmergeoptions = -s a",
		"[branch \"a\"]\nmerge = -a",
		"[submodule \"a\"]\nupdate = !b",
		"[submodule \"a\"]\nurl = ext::b",
		"[submodule \"a\"]\nurl = -b",
		"[extensions]\npartialClone = origin",
		"[extensions]\nnew = true",
		"[lfs]\nstandalonetransferagent = a",
		"[lfs \"customtransfer.a\"]\npath = b",
		"[lfs \"extension.a\"]\nclean = b",
		"[lfs \"a\"]\naccess = negotiate",
		"[user]\nname = a",
		"[user]\nemail = a@example.com",
		"[user]\nsigningkey = a",
		"[rebase]\ninstructionFormat = a",
		"[gc]\npruneExpire = now",
		"[pull]\ntwohead = a",
		"[instaweb]\nhttpd = a",
		"[browser \"a\"]\ncmd = b",
		"[trailer \"a\"]\ncommand = b",
		"[init]\ntemplateDir = a",
		"[safe]\ndirectory = *",
		"[protocol]\nallow = always",
		"bare = true",
		"[]\nbare = true",
		"[core.]\nbare = true",
	};

	check_all(texts, ARRAY_SIZE(texts), false);
}

static bool adds_nothing(const char *old_text, const char *fresh_text)
{
	const struct config_place place = { .directory = "/ws/.git" };
	struct config old = { 0 }, fresh = { 0 };
	bool result;

	if (config_parse(old_text, strlen(old_text), &old) ||
	    config_parse(fresh_text, strlen(fresh_text), &fresh))
		exit(1);
	result = config_adds_nothing(&old, &fresh, &place);
	config_free(&old);
	config_free(&fresh);
	return result;
}

static void compares_entry_by_entry(void)
{
	static const char both[] = "[alias]\na = !x\nb = !y\n";

	CHECK(adds_nothing("", ""));
	CHECK(adds_nothing("", "[core]\nbare = true\n"));
	CHECK(adds_nothing(both, both));
	CHECK(adds_nothing(both, "[alias]\nb = !y\n"));
	CHECK(adds_nothing(both, "[core]\nbare\n[ALIAS]\nA = \"!x\"\n"));
	CHECK(adds_nothing(both, ""));
	CHECK(!adds_nothing(both, "[alias]\nb = !y\na = !x\n"));
	CHECK(!adds_nothing(both, "[alias]\na = !x\na = !x\n"));
	CHECK(!adds_nothing(both, "[alias]\na = !y\n"));
	CHECK(!adds_nothing(both, "[alias]\na\n"));
	CHECK(!adds_nothing(both, "[alias \"a\"]\na = !x\n"));
	CHECK(!adds_nothing("[core]\nfsmonitor\n", "[core]\nfsmonitor =\n"));
	CHECK(!adds_nothing("[url \"A\"]\ninsteadof = b\n",
			    "[url \"a\"]\ninsteadof = b\n"));
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "what git reads gives the same entries",
		  reads_what_git_reads },
		{ "what git refuses is refused", refuses_what_git_refuses },
		{ "zero bytes are refused", refuses_zero_bytes },
		{ "sizes and counts are limited", limits_what_it_reads },
		{ "generated files mean what they mean to git",
		  agrees_with_git_on_generated_files },
		{ "harmless settings pass", passes_harmless_settings },
		{ "all other settings are asked", asks_for_other_settings },
		{ "settings are compared entry by entry and in order",
		  compares_entry_by_entry },
	};
	int fd = mkstemp(path), status;

	if (fd < 0)
		exit(1);
	(void)close(fd);
	status = check_run(tests, ARRAY_SIZE(tests));
	(void)unlink(path);
	return status;
}
