#!/bin/sh
# Format and static analysis of the C sources given, in native/, as far as the
# tools are there; a missing one is said, and is no failure.
status=0

has() {
	command -v "$1" >/dev/null && return 0
	echo "lint: $1 is not installed, skipped" >&2
	return 1
}

if has clang-format-14; then
	clang-format-14 --style=file:.clang-format --dry-run -Werror "$@" || status=1
fi
sources=$(printf '%s\n' "$@" | grep '\.c$')
if has cppcheck; then
	# shellcheck disable=SC2086
	cppcheck --quiet --std=c11 --enable=warning,performance,portability \
		--inline-suppr --error-exitcode=1 -D__x86_64__ -D_GNU_SOURCE \
		--suppress=missingIncludeSystem \
		--suppress=nullPointerRedundantCheck $sources || status=1
fi
if has clang-tidy-14; then
	# shellcheck disable=SC2086
	clang-tidy-14 --quiet --warnings-as-errors='*' $sources -- -std=gnu17 \
		-D_GNU_SOURCE -iquote . 2>/dev/null || status=1
fi
exit $status
