#!/usr/bin/env bash
# Compare the suites of two checkouts of one repository on one engine:
#
#   relevance-compare.sh BASE CHANGED SUITES [OPTIONS OF relevance run…]
#
# SUITES is a folder in both. Writes base.json and changed.json, the reports of both, and comment.md, the comparisons in
# Markdown, into the folder `comparison`. Both rankings are scored with the judgments of CHANGED. The exit status is 0
# whatever changed, 2 if the suites of CHANGED are wrong, and 3 if a query has no answer. With WHY=yes in the environment
# the comment says which difference between the two requests, or the two fixtures, moved the results.
set -euo pipefail
base=$(realpath "$1") changed=$(realpath "$2") suites=$3
shift 3
most_bytes=60000 # GitHub takes a comment of 65,536 characters

mkdir -p comparison
cd comparison
comment=$PWD/comment.md
# The first line is how the next comparison finds the comment that it replaces.
printf '<!-- relevance-compare -->\n' >"$comment"

# The configuration of the base branch counts for both: a change must not bring logins, proxies or addresses of its own.
config=()
if [ -f "$base/relevance.toml" ]; then config=(--config "$base/relevance.toml"); fi

# Run a command and set `status`. A threshold that fails (1) is the matter of the gate. A query without an answer (3) is
# in the comparison, and at the end in the exit status of this script.
unanswered=no
run() {
  status=0
  "$@" || status=$?
  case $status in
    1) status=0 ;;
    3) status=0 unanswered=yes ;;
  esac
}

# A name from a pull request, without what Markdown would read as markup.
plain() {
  printf '%s' "$1" | tr -cd 'A-Za-z0-9._/ -'
}

run relevance run "$changed/$suites" --quiet "${config[@]}" "$@" --output json=changed.json
if [ "$status" != 0 ]; then
  printf '\nThe suites of this change cannot run; the log of the job says why.\n' >>"$comment"
  exit "$status"
fi

# The folder may be new, or what the base branch has in it wrong: then there is nothing to compare with.
status=2
if [ -d "$base/$suites" ]; then run relevance run "$base/$suites" --quiet "${config[@]}" "$@" --output json=base.json; fi
if [ "$status" != 0 ]; then
  printf '\nThe base branch has no suites that can run, so there is nothing to compare with.\n' >>"$comment"
  exit 0
fi

while IFS= read -r -d '' suite; do
  name=${suite#"$changed/"}
  shown=$(plain "$name")
  if [ ! -f "$base/$name" ]; then
    printf '\n`%s` is new.\n' "$shown" >>"$comment"
    continue
  fi
  rm -f part.md
  # With WHY=yes what lies between the two versions of the suite is sent too, to say which difference did it.
  status=2
  if [ "${WHY:-no}" = yes ]; then
    run relevance compare --suite "$suite" --old-suite "$base/$name" "${config[@]}" "$@" --why --queries 3 --quiet \
      --output markdown=part.md
  fi
  if [ "$status" != 0 ]; then
    run relevance compare report:base.json report:changed.json --suite "$suite" "${config[@]}" --queries 3 --quiet \
      --output markdown=part.md
  fi
  if [ "$status" != 0 ]; then
    printf '\n`%s` cannot be compared; the log of the job says why.\n' "$shown" >>"$comment"
  elif [ $(($(wc -c <"$comment") + $(wc -c <part.md))) -gt "$most_bytes" ]; then
    printf '\n`%s` is left out, as the comment would be too long.\n' "$shown" >>"$comment"
  else
    printf '\n' | cat - part.md >>"$comment"
  fi
done < <(find "$changed/$suites" -name '*.relevance.yaml' -print0 | sort --zero-terminated)
rm -f part.md
if [ "$unanswered" = yes ]; then exit 3; fi
