/*
 * rules.c and what it looks at: changes in real folders, and how each is
 * judged. A row makes its tree in an empty workspace, describes one change and
 * says the judgement in words:
 *
 *   tree    "a/" folder, "a" file, "a=text" file, "a->b" link, "a=>b" hard link
 *   change  "mkdir a", "create a", "write a", "remove a", "rmdir a",
 *           "chmod a", "symlink b a", "rename a b", "exchange a b",
 *           "move a b" (replaces nothing), "link a b"
 *   judged  "pass", "git REPOSITORY", "ask PLACE", "refuse"; with "content"
 *           when the bytes judged are to be put in place; what the other end
 *           needs after "+"; "alone" when nothing else may happen meanwhile
 */
#include "linux/rules/rules.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "check.h"
#include "linux/launch/plan.h"

static char folder[] = "/tmp/cordon-rules-XXXXXX";
static char workspace[64], outside[64], keys[96], common[96], linked[128];

static const char *const names[] = {
	".vscode", ".envrc", ".github/workflows", ".github/hooks", ".agents",
};
static const char *const packages[] = { "node_modules", "vendor" };
static const char *const quiet[] = { "__pycache__", "*.pyc" };
static const char *roots[] = { workspace };
static const char *protected[] = { keys };
static struct planned_repository repositories[] = {
	{ .directory = linked, .common = common },
};
static struct plan_files files = {
	.roots = { roots, ARRAY_SIZE(roots) },
	.names = { names, ARRAY_SIZE(names) },
	.protected = { protected, ARRAY_SIZE(protected) },
	.packages = { packages, ARRAY_SIZE(packages) },
	.quiet = { quiet, ARRAY_SIZE(quiet) },
	.repositories = repositories,
	.repository_count = ARRAY_SIZE(repositories),
};
static struct rules *rules;

/* Trees */

static int remove_one(const char *path, const struct stat *status, int type,
		      struct FTW *at)
{
	(void)status;
	(void)type;
	(void)at;
	return remove(path);
}

static void remove_tree(const char *path)
{
	(void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Paths of rows are relative to the workspace. */
static void full_path(const char *path, char ret[512])
{
	(void)snprintf(ret, 512, "%s/%s", workspace, path);
}

static void make_parents(char *path)
{
	for (char *at = path + strlen(workspace) + 1; (at = strchr(at, '/'));
	     at++) {
		*at = '\0';
		(void)mkdir(path, 0777);
		*at = '/';
	}
}

static void make_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file || fputs(text, file) < 0 || fclose(file)) {
		printf("# cannot make %s\n", path);
		exit(1);
	}
}

static void make_entry(char *word)
{
	char path[512], target[512], *at;
	int err = 0;

	if ((at = strstr(word, "=>"))) {
		*at = '\0';
		full_path(at + 2, target);
		full_path(word, path);
		make_parents(path);
		err = link(target, path);
	} else if ((at = strstr(word, "->"))) {
		*at = '\0';
		full_path(word, path);
		make_parents(path);
		err = symlink(at + 2, path);
	} else {
		at = strchr(word, '=');
		if (at)
			*at++ = '\0';
		full_path(word, path);
		make_parents(path);
		if (path[strlen(path) - 1] != '/')
			make_file(path, at ? at : "");
	}
	if (err) {
		printf("# cannot make %s\n", word);
		exit(1);
	}
}

/* Words between blanks; "^" stands for a blank, "|" for a line end. */
static void make_tree(const char *tree)
{
	char *copy = strdup(tree), *rest = copy, *word;

	remove_tree(workspace);
	(void)mkdir(workspace, 0777);
	while (copy && (word = strsep(&rest, " "))) {
		for (char *at = word; *at; at++)
			*at = (char)(*at == '^'	  ? ' '
				     : *at == '|' ? '\n'
						  : *at);
		if (*word)
			make_entry(word);
	}
	free(copy);
}

/* Changes */

struct named {
	char path[512], parent_path[512];
	int parent;
	const char *name;
};

static void open_named(const char *path, struct named *ret)
{
	if (*path == '/')
		(void)snprintf(ret->path, sizeof(ret->path), "%s", path);
	else
		full_path(path, ret->path);
	memcpy(ret->parent_path, ret->path, sizeof(ret->path));
	*strrchr(ret->parent_path, '/') = '\0';
	ret->name = strrchr(ret->path, '/') + 1;
	ret->parent = open(ret->parent_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ret->parent < 0) {
		printf("# no folder for %s\n", path);
		exit(1);
	}
}

static bool is_folder(const struct named *named)
{
	struct stat status;

	return fstatat(named->parent, named->name, &status,
		       AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(status.st_mode);
}

static const struct {
	const char *word, *call;
	enum change_kind kind;
	bool has_source;
} calls[] = {
	{ "mkdir", "mkdir", CHANGE_CREATE, false },
	{ "create", "create", CHANGE_CREATE, false },
	{ "write", "open", CHANGE_WRITE, false },
	{ "remove", "remove", CHANGE_REMOVE, false },
	{ "rmdir", "remove", CHANGE_REMOVE, false },
	{ "chmod", "mode", CHANGE_METADATA, false },
	{ "symlink", "symlink", CHANGE_CREATE, false },
	{ "rename", "rename", CHANGE_RENAME, true },
	{ "exchange", "rename", CHANGE_RENAME, true },
	{ "move", "rename", CHANGE_RENAME, true },
	{ "link", "link", CHANGE_LINK, true },
};

static void judge_words(const char *word, const char *first, const char *second,
			struct judgement *ret)
{
	struct named to, from = { .parent = -1 };
	struct change change = { .source_parent = -1, .source = -1 };
	size_t i = 0;

	while (strcmp(calls[i].word, word) != 0)
		i++;
	open_named(second ? second : first, &to);
	change.kind = calls[i].kind;
	change.call = calls[i].call;
	change.path = to.path;
	change.parent = to.parent;
	change.name = to.name;
	change.is_directory =
		strcmp(word, "mkdir") == 0 || strcmp(word, "rmdir") == 0;
	change.is_exchange = strcmp(word, "exchange") == 0;
	change.keeps_present = strcmp(word, "move") == 0;
	if (calls[i].has_source) {
		open_named(first, &from);
		change.source_path = from.path;
		change.source_parent = from.parent;
		change.source_name = from.name;
		change.is_directory = is_folder(&from);
	} else if (second) {
		change.target = first;
	}
	rules_judge(rules, &change, ret);
	(void)close(to.parent);
	close_quietly(from.parent);
}

static void judge_text(const char *text, struct judgement *ret)
{
	char *copy = strdup(text), *rest = copy;
	const char *word = strsep(&rest, " "), *first = strsep(&rest, " ");

	judge_words(word, first, rest, ret);
	free(copy);
}

/* Judgements */

static const char *relative(const char *path)
{
	size_t length = strlen(workspace);

	if (strcmp(path, workspace) == 0)
		return ".";
	if (strncmp(path, workspace, length) == 0 && path[length] == '/')
		return path + length + 1;
	return path;
}

static void describe(const struct judgement *j, char *text, size_t size)
{
	static const char *const verdicts[] = {
		[VERDICT_PASS] = "pass",
		[VERDICT_GIT] = "git",
		[VERDICT_ASK] = "ask",
		[VERDICT_REFUSE] = "refuse",
	};
	const char *place =
		j->verdict == VERDICT_GIT ? j->repository : j->protected_path;

	(void)snprintf(text, size, "%s%s%s%s%s%s%s%s%s", verdicts[j->verdict],
		       *place ? " " : "", relative(place),
		       j->content >= 0 ? " content" : "",
		       j->second.verdict ? " + " : "",
		       j->second.verdict ? verdicts[j->second.verdict] : "",
		       *j->second.path ? " " : "", relative(j->second.path),
		       j->needs_exclusive ? " alone" : "");
}

struct row {
	const char *tree, *change, *judged;
};

static void check_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct judgement judgement;
		char text[4 * PATH_BYTES_MAX];

		make_tree(rows[i].tree);
		judge_text(rows[i].change, &judgement);
		describe(&judgement, text, sizeof(text));
		if (strcmp(text, rows[i].judged) != 0) {
			printf("# %s | %s: \"%s\", not \"%s\"\n%s",
			       rows[i].tree, rows[i].change, text,
			       rows[i].judged,
			       judgement.change ? judgement.change : "");
			check_failed = true;
		}
		judgement_release(&judgement);
	}
}

#define CHECK_ROWS(rows) check_rows(rows, ARRAY_SIZE(rows))

/* The text that is shown for a change. */
static void check_shown(const char *tree, const char *change, const char *shown)
{
	struct judgement judgement;

	make_tree(tree);
	judge_text(change, &judgement);
	CHECK_STRING(judgement.change, shown);
	judgement_release(&judgement);
}

/* A repository as git init makes it, and one without a work tree. */
#define REPOSITORY                                                  \
	".git/HEAD .git/config=[core]|bare^=^false| .git/objects/ " \
	".git/refs/heads/ .git/hooks/pre-commit.sample .git/info/ "
#define BARE "x/HEAD x/config=[core]|bare^=^true| x/objects/ x/refs/ "

static void passes_ordinary_work(void)
{
	static const struct row rows[] = {
		{ "", "create a", "pass" },
		{ "", "mkdir a", "pass" },
		{ "a", "write a", "pass" },
		{ "a", "remove a", "pass" },
		{ "a/", "rmdir a", "pass" },
		{ "a", "chmod a", "pass" },
		{ "a", "rename a b", "pass" },
		{ "a", "link a b", "pass" },
		{ "a b", "exchange a b", "pass" },
		{ "", "symlink a b", "pass" },
		{ "a/", "rename a b", "pass alone" },
		{ REPOSITORY, "create a", "pass" },
		{ REPOSITORY, "create .gitignore", "pass" },
		{ REPOSITORY, "create .gitattributes", "pass" },
		{ REPOSITORY, "create .gitmodules", "pass" },
		{ "a/", "create a/.vscode", "pass" },
		{ "a/.vscode/", "create a/.vscode/tasks.json", "pass" },
		{ "", "create .vscode2", "pass" },
		{ "", "create x.vscode", "pass" },
		{ "objects/", "create objects/a", "pass" },
		{ "refs/", "create refs/a", "pass" },
		{ "", "create hooks", "pass" },
		{ "hooks/", "create hooks/pre-commit", "pass" },
		{ "a/", "create a/config", "pass" },
		{ "", "create HEAD", "pass alone" },
		{ "", "mkdir objects", "pass alone" },
		{ "", "mkdir refs", "pass alone" },
		{ "", "create commondir", "pass alone" },
		{ "info/", "create info/attributes", "pass" },
	};

	CHECK_ROWS(rows);
}

static void asks_for_names(void)
{
	static const struct row rows[] = {
		{ "", "mkdir .vscode", "ask .vscode" },
		{ "", "create .vscode", "ask .vscode" },
		{ "", "symlink a .vscode", "ask .vscode" },
		{ "a/", "rename a .vscode", "ask .vscode alone" },
		{ "a=text", "rename a .vscode", "ask .vscode content" },
		{ "a", "link a .vscode", "ask .vscode content" },
		{ "a->b", "rename a .vscode", "ask .vscode" },
		{ ".vscode/", "create .vscode/tasks.json", "ask .vscode" },
		{ ".vscode/a/", "create .vscode/a/b", "ask .vscode" },
		{ ".vscode/a", "write .vscode/a", "ask .vscode" },
		{ ".vscode/a", "remove .vscode/a", "ask .vscode" },
		{ ".vscode/a", "chmod .vscode/a", "ask .vscode" },
		{ ".vscode/a", "rename .vscode/a b", "ask .vscode" },
		{ ".vscode/a", "link .vscode/a b", "ask .vscode" },
		{ ".vscode/a b", "exchange b .vscode/a", "ask .vscode" },
		{ ".vscode/a b", "exchange .vscode/a b", "ask .vscode" },
		{ ".vscode/a b", "rename b .vscode/a", "ask .vscode content" },
		{ ".vscode/", "rename .vscode b", "ask .vscode alone" },
		{ ".vscode/", "rmdir .vscode", "ask .vscode" },
		{ "", "create .envrc", "ask .envrc" },
		{ ".envrc", "write .envrc", "ask .envrc" },
		{ ".envrc .vscode/", "rename .envrc .vscode/a",
		  "ask .vscode content + ask .envrc" },
		/* as a file system might fold it */
		{ "", "mkdir .VSCode", "ask .VSCode" },
		{ "", "mkdir .v\u017fcode", "ask .v\u017fcode" },
		{ "", "mkdir .vs\u200bcode", "ask .vs\u200bcode" },
		{ "", "mkdir .\ufeffvscode", "ask .\ufeffvscode" },
		{ "", "mkdir .vscode.", "ask .vscode." },
		{ "", "create .ENVRC", "ask .ENVRC" },
		{ ".github/", "mkdir .github/wor\u212aflows",
		  "ask .github/wor\u212aflows" },
	};

	CHECK_ROWS(rows);
}

static void asks_for_names_of_several_parts(void)
{
	static const struct row rows[] = {
		{ "", "mkdir .github", "pass" },
		{ "", "create .github", "pass" },
		{ ".github/", "create .github/CODEOWNERS", "pass" },
		{ ".github/", "rmdir .github", "pass" },
		{ ".github/", "mkdir .github/workflows",
		  "ask .github/workflows" },
		{ ".github/workflows/", "create .github/workflows/ci.yml",
		  "ask .github/workflows" },
		{ ".github/workflows/ci.yml", "write .github/workflows/ci.yml",
		  "ask .github/workflows" },
		{ ".github/workflows/", "rename .github a",
		  "ask .github/workflows alone" },
		{ ".github/hooks/", "rename .github a",
		  "ask .github/hooks alone" },
		{ ".github/a", "rename .github a", "pass alone" },
		{ "a/workflows/", "rename a .github",
		  "ask .github/workflows alone" },
		{ "a/hooks/", "rename a .github", "ask .github/hooks alone" },
		{ "a/", "rename a .github", "pass alone" },
		{ "a", "rename a .github", "pass alone" },
		{ "a/workflows/ .github/", "exchange a .github",
		  "ask .github/workflows alone" },
		{ "a/ .github/workflows/", "exchange a .github",
		  "ask .github/workflows alone" },
		{ ".github/workflows/ a/", "exchange .github a",
		  "ask .github/workflows alone" },
		{ "", "symlink a .github", "ask .github/workflows" },
		{ "a->b", "rename a .github", "ask .github/workflows alone" },
		{ ".github/a->b", "rename .github/a .github/workflows",
		  "ask .github/workflows" },
		{ ".github/a/", "rename .github/a .github/workflows",
		  "ask .github/workflows alone" },
		{ "workflows/", "create workflows/a", "pass" },
		{ "a/.github/workflows/", "create a/.github/workflows/b",
		  "pass" },
	};

	CHECK_ROWS(rows);
}

static void holds_names_in_nested_repositories(void)
{
	static const struct row rows[] = {
		{ "a/.git/", "mkdir a/.vscode", "ask a/.vscode" },
		{ "a/.git=gitdir:^x", "mkdir a/.vscode", "ask a/.vscode" },
		{ "a/.git->b", "mkdir a/.vscode", "ask a/.vscode" },
		{ "a/.git/ a/b/", "mkdir a/b/.vscode", "pass" },
		{ "a/b/.git/", "create a/b/.envrc", "ask a/b/.envrc" },
		{ "a/.git/ a/.github/", "mkdir a/.github/workflows",
		  "ask a/.github/workflows" },
		{ "node_modules/", "mkdir node_modules/.vscode", "pass" },
		{ "node_modules/a/.git/", "mkdir node_modules/a/.vscode",
		  "pass" },
		{ "a/vendor/b/.git/", "create a/vendor/b/.envrc", "pass" },
		{ "node_modules/.vscode/", "create node_modules/.vscode/a",
		  "pass" },
		{ "vendor/a/", "mkdir vendor/a/.git", "git vendor/a/.git" },
	};

	CHECK_ROWS(rows);
}

static void asks_for_paths(void)
{
	static const struct row rows[] = {
		{ "deploy/", "create deploy/keys", "ask deploy/keys" },
		{ "deploy/keys/", "create deploy/keys/a", "ask deploy/keys" },
		{ "deploy/keys", "write deploy/keys", "ask deploy/keys" },
		{ "deploy/keys", "remove deploy/keys", "ask deploy/keys" },
		{ "deploy/keys", "link deploy/keys a", "ask deploy/keys" },
		{ "deploy/keys", "rename deploy a", "ask deploy/keys alone" },
		{ "deploy/", "rename deploy a", "pass alone" },
		{ "a/keys", "rename a deploy", "ask deploy/keys alone" },
		{ "", "symlink a deploy", "ask deploy/keys" },
		{ "", "mkdir deploy", "pass" },
		{ "deploy/", "create deploy/KEYS", "ask deploy/keys" },
		{ "deploy/", "create deploy/keys2", "pass" },
	};

	CHECK_ROWS(rows);
}

static void asks_nobody_for_what_fails(void)
{
	static const struct row rows[] = {
		{ "", "remove .vscode", "pass alone" },
		{ "", "remove .envrc", "pass alone" },
		{ "", "chmod .envrc", "pass alone" },
		{ "", "rename .vscode a", "pass alone" },
		{ "", "rename a .vscode", "pass alone" },
		{ "", "link .envrc a", "pass alone" },
		{ ".vscode/", "mkdir .vscode", "pass alone" },
		{ ".vscode/", "symlink a .vscode", "pass alone" },
		{ "a .envrc", "link a .envrc", "pass alone" },
		{ "a .envrc", "move a .envrc", "pass alone" },
		{ REPOSITORY, "mkdir .git", "pass alone" },
		{ REPOSITORY, "remove .git/hooks/pre-commit", "pass alone" },
		{ REPOSITORY, "mkdir .git/refs", "pass alone" },
		{ REPOSITORY, "rename .git/x.lock .git/config", "pass alone" },
	};

	CHECK_ROWS(rows);
}

static void leaves_git_to_its_answer(void)
{
	static const struct row rows[] = {
		{ "", "mkdir .git", "git .git" },
		{ "a/", "mkdir a/.git", "git a/.git" },
		{ REPOSITORY, "create .git/index.lock", "git .git" },
		{ REPOSITORY ".git/index.lock",
		  "rename .git/index.lock .git/index", "git .git alone" },
		{ REPOSITORY, "mkdir .git/objects/ab", "git .git" },
		{ REPOSITORY ".git/objects/a",
		  "link .git/objects/a "
		  ".git/objects/b",
		  "git .git" },
		{ REPOSITORY ".git/objects/a",
		  "rename .git/objects/a .git/objects/b", "git .git" },
		{ REPOSITORY ".git/objects/a", "remove .git/objects/a",
		  "git .git" },
		{ REPOSITORY ".git/objects/a", "chmod .git/objects/a",
		  "git .git" },
		{ REPOSITORY, "create .git/refs/heads/hooks", "git .git" },
		{ REPOSITORY ".git/HEAD.lock",
		  "rename .git/HEAD.lock .git/HEAD", "git .git alone" },
		{ REPOSITORY, "create .git/config.lock", "git .git" },
		{ REPOSITORY, "write .git/HEAD", "git .git" },
		{ REPOSITORY, "create .git/FETCH_HEAD", "git .git" },
		{ REPOSITORY, "create .git/packed-refs.lock", "git .git" },
		{ REPOSITORY, "mkdir .git/logs", "git .git" },
		{ REPOSITORY, "create .git/info/exclude", "git .git" },
		{ REPOSITORY, "create .git/hooks/update.sample", "git .git" },
		{ REPOSITORY, "remove .git/hooks/pre-commit.sample",
		  "git .git" },
		{ ".git/", "mkdir .git/hooks", "git .git" },
		{ ".git/", "mkdir .git/info", "git .git" },
		{ ".git/", "create .git/HEAD", "git .git alone" },
		{ ".git/refs/", "mkdir .git/objects", "git .git alone" },
		{ REPOSITORY, "symlink testing .git/tXYZ", "git .git" },
		{ REPOSITORY, "chmod .git/config", "git .git" },
		{ REPOSITORY, "chmod .git/hooks", "git .git" },
		{ REPOSITORY ".git/rebase-merge/",
		  "create .git/rebase-merge/done", "git .git" },
		{ REPOSITORY, "mkdir .git/rebase-merge", "git .git" },
		{ ".git/", "rmdir .git", "git .git" },
		{ REPOSITORY, "mkdir .git/worktrees", "git .git" },
		{ REPOSITORY ".git/worktrees/w/HEAD",
		  "create .git/worktrees/w/commondir", "git .git alone" },
		{ REPOSITORY ".git/worktrees/w/HEAD "
			     ".git/worktrees/w/commondir",
		  "remove .git/worktrees/w/HEAD", "git .git" },
		{ REPOSITORY ".git/worktrees/w/HEAD "
			     ".git/worktrees/w/commondir",
		  "remove .git/worktrees/w/commondir", "git .git" },
		{ REPOSITORY "w/", "create w/.git", "git .git" },
		{ "w/", "create w/.git", "git w/.git" },
		{ REPOSITORY "w/.git=gitdir:^x", "remove w/.git", "git .git" },
		{ REPOSITORY ".git/objects/a", "link .git/objects/a b",
		  "git .git" },
		{ REPOSITORY "a/.git/objects/ .git/objects/a",
		  "link .git/objects/a a/.git/objects/a",
		  "git a/.git + git .git" },
		{ "a/.git/", "rename a b", "pass alone" },
		{ ".GIT/", "create .GIT/index", "git .GIT" },
		{ "", "mkdir .GiT", "git .GiT" },
		{ "", "mkdir git~1", "git git~1" },
		{ "", "mkdir .g\u200dit", "git .g\u200dit" },
		{ "", "mkdir .git.", "git .git." },
		{ "node_modules/a/.git/", "create node_modules/a/.git/index",
		  "git node_modules/a/.git" },
	};

	CHECK_ROWS(rows);
}

static void asks_for_what_runs(void)
{
	static const struct row rows[] = {
		{ REPOSITORY, "create .git/hooks/pre-commit",
		  "ask .git/hooks" },
		{ REPOSITORY, "mkdir .git/hooks/pre-commit", "ask .git/hooks" },
		{ REPOSITORY "a=run", "rename a .git/hooks/pre-commit",
		  "ask .git/hooks content alone" },
		{ REPOSITORY "a", "link a .git/hooks/post-merge",
		  "ask .git/hooks content alone" },
		{ REPOSITORY, "symlink ../../a .git/hooks/pre-push",
		  "ask .git/hooks" },
		{ REPOSITORY,
		  "rename .git/hooks/pre-commit.sample "
		  ".git/hooks/pre-commit",
		  "ask .git/hooks content alone" },
		{ REPOSITORY ".git/hooks/update", "write .git/hooks/update",
		  "ask .git/hooks" },
		{ REPOSITORY ".git/hooks/update", "chmod .git/hooks/update",
		  "ask .git/hooks" },
		{ REPOSITORY ".git/hooks/update", "remove .git/hooks/update",
		  "ask .git/hooks" },
		{ REPOSITORY ".git/hooks/update", "link .git/hooks/update a",
		  "ask .git/hooks" },
		{ REPOSITORY ".git/hooks/update", "rename .git/hooks/update a",
		  "ask .git/hooks alone" },
		{ REPOSITORY ".git/hooks/d/a", "write .git/hooks/d/a",
		  "ask .git/hooks" },
		{ REPOSITORY, "rename .git/hooks .git/x",
		  "ask .git/hooks alone" },
		{ ".git/ a/", "rename a .git/hooks", "ask .git/hooks alone" },
		{ ".git/", "symlink ../a .git/hooks", "ask .git/hooks" },
		{ ".git/HOOKS/", "create .git/HOOKS/pre-commit",
		  "ask .git/HOOKS" },
		{ ".git/hoo\u212as/", "create .git/hoo\u212as/pre-commit",
		  "ask .git/hoo\u212as" },
		{ REPOSITORY, "create .git/HOOKS~1", "ask .git/HOOKS~1" },
		{ REPOSITORY, "create .git/info/attributes",
		  "ask .git/info/attributes" },
		{ ".git/INFO/", "create .git/INFO/Attributes",
		  "ask .git/INFO/Attributes" },
		{ REPOSITORY "a", "rename a .git/info/attributes",
		  "ask .git/info/attributes content alone" },
		{ REPOSITORY, "rename .git/info .git/x",
		  "ask .git/info alone" },
		{ ".git/ a/attributes", "rename a .git/info",
		  "ask .git/info alone" },
		{ ".git/", "symlink ../a .git/info", "ask .git/info" },
		{ REPOSITORY, "create .git/commondir",
		  "ask .git/commondir alone" },
		{ REPOSITORY, "write .git/config", "ask .git/config" },
		{ ".git/", "create .git/config", "ask .git/config" },
		{ REPOSITORY, "create .git/config.worktree",
		  "ask .git/config.worktree" },
		{ REPOSITORY, "link .git/config a", "ask .git/config" },
		{ REPOSITORY, "symlink ../a .git/config.worktree",
		  "ask .git/config.worktree" },
		{ REPOSITORY, "symlink ../x .git/modules", "ask .git/modules" },
		{ REPOSITORY ".git/modules/ a->/tmp/x",
		  "rename a .git/modules/b", "ask .git/modules/b alone" },
		{ "", "symlink a .git", "ask .git" },
		{ "a->b", "rename a .git", "ask .git alone" },
	};

	CHECK_ROWS(rows);
}

static void judges_settings_as_they_come_to_stand(void)
{
	static const struct row rows[] = {
		{ REPOSITORY
		  ".git/config.lock=[core]|bare^=^false|[branch^\"m\"]"
		  "|remote^=^origin|",
		  "rename .git/config.lock .git/config",
		  "git .git content alone" },
		{ REPOSITORY ".git/config.lock=[core]|fsmonitor^=^./a|",
		  "rename .git/config.lock .git/config",
		  "ask .git/config content alone" },
		{ REPOSITORY "a=[core]|fsmonitor^=^./a|",
		  "rename a .git/config", "ask .git/config content alone" },
		{ REPOSITORY "a=[alias]|x^=^!a|", "link a .git/config",
		  "pass alone" },
		{ ".git/ a=[alias]|x^=^!a|", "link a .git/config",
		  "ask .git/config content alone" },
		{ ".git/ a=[core]|bare=false|", "link a .git/config",
		  "git .git content alone" },
		{ REPOSITORY "a=broken", "rename a .git/config",
		  "ask .git/config content alone" },
		{ REPOSITORY "a==", "rename a .git/config",
		  "ask .git/config content alone" },
		{ REPOSITORY "a->b", "rename a .git/config",
		  "ask .git/config alone" },
		{ REPOSITORY "a/", "rename a .git/config",
		  "ask .git/config alone" },
		{ REPOSITORY "a", "exchange a .git/config",
		  "ask .git/config alone" },
		{ REPOSITORY "a=[core]|hookspath=x|",
		  "rename a .git/config.worktree",
		  "ask .git/config.worktree content alone" },
		{ REPOSITORY "a=[core]|sparsecheckout=true|",
		  "rename a .git/config.worktree", "git .git content alone" },
		{ REPOSITORY ".git/worktrees/w/ a=[core]|hookspath=x|",
		  "rename a .git/worktrees/w/config.worktree",
		  "ask .git/worktrees/w/config.worktree content alone" },
		{ ".git/config=[alias]|x=!a| .git/config.lock=[alias]|x=!a|",
		  "rename .git/config.lock .git/config",
		  "git .git content alone" },
		{ ".git/config=[alias]|x=!a| .git/config.lock=[alias]|x=!b|",
		  "rename .git/config.lock .git/config",
		  "ask .git/config content alone" },
	};

	CHECK_ROWS(rows);
	check_shown(REPOSITORY "a=[core]|fsmonitor^=^./a|",
		    "rename a .git/config",
		    "+ core.fsmonitor = ./a\n- core.bare = false\n");
	check_shown(".git/config=[alias]|x=!a| a=[alias]|x=!b|",
		    "rename a .git/config", "+ alias.x = !b\n- alias.x = !a\n");
	check_shown(REPOSITORY "a=#!/bin/sh|run|",
		    "rename a .git/hooks/pre-commit", "#!/bin/sh\nrun\n");
	check_shown("a/b/ a/tasks.json", "rename a .vscode",
		    "b/\ntasks.json\n");
	check_shown(REPOSITORY, "symlink ../../a .git/hooks/pre-push",
		    "-> ../../a\n");
}

static void judges_todo_lists(void)
{
	static const struct row rows[] = {
		{ REPOSITORY ".git/rebase-merge/t.lock=pick^1^a|",
		  "rename .git/rebase-merge/t.lock "
		  ".git/rebase-merge/git-rebase-todo",
		  "git .git content alone" },
		{ REPOSITORY ".git/rebase-merge/t.lock=pick^1^a|exec^make|",
		  "rename .git/rebase-merge/t.lock "
		  ".git/rebase-merge/git-rebase-todo",
		  "ask .git/rebase-merge/git-rebase-todo content alone" },
		{ REPOSITORY ".git/sequencer/a=x^make|",
		  "rename .git/sequencer/a .git/sequencer/todo",
		  "ask .git/sequencer/todo content alone" },
		{ REPOSITORY ".git/rebase-merge/git-rebase-todo",
		  "write .git/rebase-merge/git-rebase-todo",
		  "ask .git/rebase-merge/git-rebase-todo" },
		{ REPOSITORY ".git/rebase-merge/git-rebase-todo",
		  "remove .git/rebase-merge/git-rebase-todo", "git .git" },
		{ REPOSITORY "a/git-rebase-todo=exec^make|",
		  "rename a .git/rebase-merge", "ask .git/rebase-merge alone" },
		{ REPOSITORY, "symlink ../a .git/rebase-merge",
		  "ask .git/rebase-merge" },
		{ REPOSITORY ".git/rebase-merge/",
		  "create .git/rebase-merge/strategy",
		  "ask .git/rebase-merge/strategy" },
		{ REPOSITORY ".git/sequencer/a=[options]|edit=true|",
		  "rename .git/sequencer/a .git/sequencer/opts",
		  "git .git content alone" },
		{ REPOSITORY ".git/sequencer/a=[options]|strategy=../a|",
		  "rename .git/sequencer/a .git/sequencer/opts",
		  "ask .git/sequencer/opts content alone" },
		{ REPOSITORY ".git/worktrees/w/rebase-merge/ a=exec^b|",
		  "rename a .git/worktrees/w/rebase-merge/git-rebase-todo",
		  "ask .git/worktrees/w/rebase-merge/git-rebase-todo content "
		  "alone" },
	};

	CHECK_ROWS(rows);
	check_shown(REPOSITORY
		    ".git/rebase-merge/ a=pick^1|exec^make|^x\tb|exe",
		    "rename a .git/rebase-merge/git-rebase-todo",
		    "exec make\n x\tb\n");
}

static void asks_before_a_repository_goes(void)
{
	static const struct row rows[] = {
		{ REPOSITORY, "rename .git a", "ask .git alone" },
		{ REPOSITORY, "remove .git/HEAD", "ask .git" },
		{ REPOSITORY, "remove .git/config", "ask .git" },
		{ REPOSITORY, "rmdir .git/objects", "ask .git" },
		{ REPOSITORY, "rmdir .git/refs", "ask .git" },
		{ REPOSITORY, "rename .git/objects a", "ask .git alone" },
		{ REPOSITORY, "rename .git/config a", "ask .git/config alone" },
		{ REPOSITORY "a/", "exchange a .git", "ask .git alone" },
		{ BARE, "remove x/HEAD", "ask x" },
		{ BARE, "rename x y", "pass alone" },
	};

	CHECK_ROWS(rows);
}

static void knows_bare_layouts(void)
{
	static const struct row rows[] = {
		/* complete ones are protected */
		{ BARE, "create x/hooks", "ask x/hooks" },
		{ BARE "x/hooks/", "create x/hooks/pre-commit", "ask x/hooks" },
		{ BARE "x/hooks/d/", "create x/hooks/d/a", "ask x/hooks" },
		{ BARE, "write x/config", "ask x/config" },
		{ BARE "a=[alias]|x=!a|", "rename a x/config",
		  "ask x/config content alone" },
		{ BARE "a=[core]|bare=true|", "rename a x/config",
		  "git x content alone" },
		{ BARE "x/info/", "create x/info/attributes",
		  "ask x/info/attributes" },
		{ BARE, "create x/objects/a", "git x" },
		{ BARE, "create x/refs/a", "git x" },
		{ BARE, "create x/commondir", "ask x/commondir alone" },
		{ "x/objects x/refs x/config", "write x/config",
		  "ask x/config" },
		{ "x/HEAD x/commondir x/config.worktree",
		  "write x/config.worktree", "ask x/config.worktree" },
		/* ones that become so are looked into */
		{ "x/refs/", "mkdir x/objects", "git x alone" },
		{ "x/objects/", "mkdir x/refs", "git x alone" },
		{ "x/objects/", "create x/refs", "git x alone" },
		{ "x/objects/ a/", "rename a x/refs", "git x alone" },
		{ "x/objects/", "symlink ../a x/refs", "git x alone" },
		{ "x/refs/ x/config=[core]|bare=true|", "mkdir x/objects",
		  "git x alone" },
		{ "x/refs/ x/hooks/a.sample", "mkdir x/objects",
		  "git x alone" },
		{ "x/refs/ x/config=[alias]|x=!a|", "mkdir x/objects",
		  "ask x alone" },
		{ "x/refs/ x/hooks/pre-commit", "mkdir x/objects",
		  "ask x alone" },
		{ "x/refs/ x/hooks->a", "mkdir x/objects", "ask x alone" },
		{ "x/refs/ x/info/attributes", "mkdir x/objects",
		  "ask x alone" },
		{ "x/refs/ x/info->a", "mkdir x/objects", "ask x alone" },
		{ "x/refs/ x/config->a", "mkdir x/objects", "ask x alone" },
		{ "x/refs/ x/config a=>x/config", "mkdir x/objects",
		  "ask x alone" },
		{ "x/refs/ a=", "link a x/objects", "git x alone" },
		{ "x/commondir", "create x/HEAD", "ask x alone" },
		{ "x/HEAD", "create x/commondir", "ask x alone" },
		{ "x/HEAD a", "rename a x/commondir", "ask x content alone" },
		/* in the root itself */
		{ "refs/ hooks/update", "mkdir objects", "ask . alone" },
		{ "refs/", "mkdir objects", "git . alone" },
		/* submodules */
		{ REPOSITORY ".git/modules/a/refs/ .git/modules/a/hooks/x",
		  "mkdir .git/modules/a/objects", "ask .git/modules/a alone" },
		{ REPOSITORY ".git/modules/a/refs/ .git/modules/a/objects/ "
			     ".git/modules/a/hooks/",
		  "create .git/modules/a/hooks/x", "ask .git/modules/a/hooks" },
		{ REPOSITORY ".git/modules/a/refs/ .git/modules/a/objects/ a=",
		  "rename a .git/modules/a/config", "git .git content alone" },
		{ REPOSITORY ".git/modules/a/hooks/",
		  "create .git/modules/a/hooks/x", "ask .git/modules/a/hooks" },
		{ REPOSITORY ".git/modules/a/b/hooks/",
		  "create .git/modules/a/b/hooks/x",
		  "ask .git/modules/a/b/hooks" },
		{ REPOSITORY ".git/modules/a/refs/heads/hooks/",
		  "create .git/modules/a/refs/heads/hooks/x", "git .git" },
		{ REPOSITORY ".git/modules/hooks/",
		  "create .git/modules/hooks/HEAD", "git .git alone" },
		{ REPOSITORY ".git/modules/a/", "create .git/modules/a/config",
		  "ask .git/modules/a/config" },
		{ REPOSITORY ".git/modules/a/modules/b/info/",
		  "create .git/modules/a/modules/b/info/attributes",
		  "ask .git/modules/a/modules/b/info/attributes" },
		{ REPOSITORY ".git/modules/a/worktrees/w/",
		  "create .git/modules/a/worktrees/w/config.worktree",
		  "ask .git/modules/a/worktrees/w/config.worktree" },
		{ REPOSITORY ".git/modules/ d/hooks/x",
		  "rename d .git/modules/a", "ask .git/modules/a alone" },
		{ REPOSITORY ".git/modules/ d/hooks/x.sample",
		  "rename d .git/modules/a", "git .git alone" },
		/* what is renamed to .git */
		{ "x/HEAD x/config=[core]|bare=false| x/objects/ x/refs/",
		  "rename x .git", "git .git alone" },
		{ "x/HEAD x/config=[alias]|x=!a| x/objects/ x/refs/",
		  "rename x .git", "ask .git alone" },
		{ "x/hooks/update", "rename x .git", "ask .git alone" },
		{ "a=gitdir:^x", "rename a .git", "git .git alone" },
	};

	CHECK_ROWS(rows);
	check_shown("x/refs/ x/config=[alias]|x=!a| x/hooks/update=run|",
		    "mkdir x/objects",
		    "config has:\n+ alias.x = !a\nhooks/update:\nrun\n");
}

/* What is open for writing could still be changed after it was judged. */
static void notices_open_files(void)
{
	struct judgement judgement;
	char path[512];
	int fd;

	make_tree("x/refs/ x/config=[core]|bare=true|");
	full_path("x/config", path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	judge_text("mkdir x/objects", &judgement);
	CHECK(judgement.verdict == VERDICT_ASK);
	judgement_release(&judgement);
	{
		void *mapped = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED,
				    fd, 0);

		(void)close(fd);
		judge_text("mkdir x/objects", &judgement);
		CHECK(judgement.verdict == VERDICT_ASK);
		judgement_release(&judgement);
		(void)munmap(mapped, 1);
	}
	judge_text("mkdir x/objects", &judgement);
	CHECK(judgement.verdict == VERDICT_GIT);
	judgement_release(&judgement);
}

static void gives_a_copy_that_stays(void)
{
	struct judgement judgement;
	char path[512], bytes[64] = "";
	int fd;

	make_tree(REPOSITORY "a=[core]|bare=false|");
	full_path("a", path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	judge_text("rename a .git/config", &judgement);
	CHECK(judgement.verdict == VERDICT_GIT && judgement.content >= 0);
	CHECK(pwrite(fd, "[alias]\nx=!a\n", 13, 0) == 13);
	CHECK(pread(judgement.content, bytes, sizeof(bytes) - 1, 0) == 18);
	CHECK_STRING(bytes, "[core]\nbare=false\n");
	CHECK(write(judgement.content, "x", 1) < 0);
	judgement_release(&judgement);
	(void)close(fd);
}

static void judges_links_of_descriptors(void)
{
	struct judgement judgement;
	struct change change = { .kind = CHANGE_LINK,
				 .call = "link",
				 .name = "pre-commit",
				 .source_parent = -1 };
	char path[512];

	make_tree(REPOSITORY);
	full_path(".git/hooks", path);
	change.source = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0777);
	change.parent = open(path, O_PATH | O_CLOEXEC);
	full_path(".git/hooks/pre-commit", path);
	change.path = path;
	CHECK(change.source >= 0 && change.parent >= 0);
	CHECK(write(change.source, "run\n", 4) == 4);
	rules_judge(rules, &change, &judgement);
	CHECK(judgement.verdict == VERDICT_ASK && judgement.content >= 0);
	CHECK_STRING(judgement.change, "run\n");
	judgement_release(&judgement);
	(void)close(change.source);
	(void)close(change.parent);
}

static void refuses_when_git_is_protected(void)
{
	static const struct row rows[] = {
		{ "", "mkdir .git", "refuse" },
		{ REPOSITORY, "create .git/index", "refuse" },
		{ REPOSITORY, "create .git/hooks/a", "refuse" },
		{ "x/refs/", "mkdir x/objects", "refuse alone" },
		{ "", "mkdir .vscode", "ask .vscode" },
		{ "", "create a", "pass" },
		{ REPOSITORY ".git/objects/a", "link .git/objects/a b",
		  "refuse" },
	};

	files.git = GIT_PROTECT;
	CHECK_ROWS(rows);
	files.git = GIT_ASK;
}

static void follows_planned_repositories(void)
{
	static const struct row rows[] = {
		{ "", "create OUT/r/.git/index", "git OUT/r/.git" },
		{ "", "create OUT/r/.git/worktrees/w/index", "git OUT/r/.git" },
		{ "", "create OUT/r/.git/hooks/update",
		  "ask OUT/r/.git/hooks" },
		{ "", "write OUT/r/.git/config", "ask OUT/r/.git/config" },
		{ "", "create OUT/r/.git/worktrees/w/config.worktree",
		  "ask OUT/r/.git/worktrees/w/config.worktree" },
		{ "", "remove OUT/r/.git/worktrees/w/HEAD", "git OUT/r/.git" },
		{ "", "create OUT/r/a", "pass" },
		{ "", "mkdir OUT/r/.vscode", "pass" },
		{ "", "mkdir OUT/.git", "pass" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char change[256], judged[256];
		const char *at = strstr(rows[i].change, "OUT"),
			   *place = strstr(rows[i].judged, "OUT");

		(void)snprintf(change, sizeof(change), "%.*s%s%s",
			       (int)(at - rows[i].change), rows[i].change,
			       outside, at + 3);
		(void)snprintf(judged, sizeof(judged), "%s", rows[i].judged);
		if (place)
			(void)snprintf(judged, sizeof(judged), "%.*s%s%s",
				       (int)(place - rows[i].judged),
				       rows[i].judged, outside, place + 3);
		check_rows(&(const struct row){ "", change, judged }, 1);
	}
}

static void takes_granted_folders_as_roots(void)
{
	struct judgement judgement;
	char change[256];

	(void)snprintf(change, sizeof(change), "mkdir %s/.vscode", outside);
	judge_text(change, &judgement);
	CHECK(judgement.verdict == VERDICT_PASS);
	judgement_release(&judgement);
	CHECK(rules_add_root(rules, outside) == 0);
	CHECK(rules_add_root(rules, outside) == 0);
	judge_text(change, &judgement);
	CHECK(judgement.verdict == VERDICT_ASK);
	judgement_release(&judgement);
	(void)snprintf(change, sizeof(change), "mkdir %s/.git", outside);
	judge_text(change, &judgement);
	CHECK(judgement.verdict == VERDICT_GIT);
	judgement_release(&judgement);
}

static void keeps_roots_where_they_are(void)
{
	struct judgement judgement;
	char change[256];

	make_tree("");
	(void)snprintf(change, sizeof(change), "rename %s %s/x", workspace,
		       outside);
	judge_text(change, &judgement);
	CHECK(judgement.verdict == VERDICT_REFUSE);
	judgement_release(&judgement);
	(void)snprintf(change, sizeof(change), "rename %s %s2", folder, folder);
	judge_text(change, &judgement);
	CHECK(judgement.verdict == VERDICT_REFUSE);
	judgement_release(&judgement);
}

static void knows_quiet_names(void)
{
	CHECK(rules_is_quiet(rules, "/a/__pycache__/b"));
	CHECK(rules_is_quiet(rules, "/a/b.pyc"));
	CHECK(!rules_is_quiet(rules, "/a/b.py"));
	CHECK(!rules_is_quiet(rules, "/"));
}

static void judges_paths_without_end(void)
{
	struct judgement judgement;
	char path[PATH_BYTES_MAX] = "/";
	struct change change = { .kind = CHANGE_CREATE,
				 .call = "create",
				 .path = path,
				 .parent = -1,
				 .name = "a",
				 .source_parent = -1,
				 .source = -1 };

	(void)snprintf(path, sizeof(path), "%s", workspace);
	while (strlen(path) + 3 < sizeof(path))
		memcpy(path + strlen(path), "/a", 3);
	rules_judge(rules, &change, &judgement);
	CHECK(judgement.verdict == VERDICT_PASS);
	judgement_release(&judgement);
}

static void set_up(void)
{
	char path[512];
	static const char *const outer[] = {
		"",
		"/r",
		"/r/.git",
		"/r/.git/hooks",
		"/r/.git/objects",
		"/r/.git/refs",
		"/r/.git/worktrees",
		"/r/.git/worktrees/w",
	};

	if (!mkdtemp(folder))
		exit(1);
	(void)snprintf(workspace, sizeof(workspace), "%s/ws", folder);
	(void)snprintf(outside, sizeof(outside), "%s/out", folder);
	(void)snprintf(keys, sizeof(keys), "%s/deploy/keys", workspace);
	(void)snprintf(common, sizeof(common), "%s/r/.git", outside);
	(void)snprintf(linked, sizeof(linked), "%s/worktrees/w", common);
	for (size_t i = 0; i < ARRAY_SIZE(outer); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", outside, outer[i]);
		(void)mkdir(path, 0777);
	}
	(void)snprintf(path, sizeof(path), "%s/HEAD", linked);
	make_file(path, "");
	(void)snprintf(path, sizeof(path), "%s/config", common);
	make_file(path, "");
	if (rules_open(&files, &rules))
		exit(1);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "ordinary work passes", passes_ordinary_work },
		{ "protected names are asked, however they are spelt",
		  asks_for_names },
		{ "protected names of several parts hold their folders",
		  asks_for_names_of_several_parts },
		{ "names hold in nested repositories and not in packages",
		  holds_names_in_nested_repositories },
		{ "protected paths are asked", asks_for_paths },
		{ "nobody is asked for a call that fails anyway",
		  asks_nobody_for_what_fails },
		{ "git's own work needs the git answer",
		  leaves_git_to_its_answer },
		{ "hooks, attributes and links in git directories are asked",
		  asks_for_what_runs },
		{ "settings are judged by content when they come to stand",
		  judges_settings_as_they_come_to_stand },
		{ "todo lists that run something are asked",
		  judges_todo_lists },
		{ "a repository does not go without a question",
		  asks_before_a_repository_goes },
		{ "a bare layout counts once it is complete",
		  knows_bare_layouts },
		{ "settings that are still open for writing are asked",
		  notices_open_files },
		{ "what was judged is handed over, not what is there later",
		  gives_a_copy_that_stays },
		{ "a link of a descriptor is judged by its content",
		  judges_links_of_descriptors },
		{ "git: protect refuses all of git's",
		  refuses_when_git_is_protected },
		{ "planned repositories outside of the roots are judged",
		  follows_planned_repositories },
		{ "a root, and what is above one, does not move",
		  keeps_roots_where_they_are },
		{ "quiet names are known", knows_quiet_names },
		{ "the longest path is judged", judges_paths_without_end },
		{ "a granted folder is judged as a root",
		  takes_granted_folders_as_roots },
	};
	int status;

	set_up();
	status = check_run(tests, ARRAY_SIZE(tests));
	rules_close(rules);
	remove_tree(folder);
	return status;
}
