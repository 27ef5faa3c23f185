//! The entries, but for `find` and `git`, which have grammars of their own.

use super::super::argument_grammar::{ProgramSpec, entry};

/// Sorted by what they are for.
pub(super) const ALL: &[ProgramSpec] = &[
    // Listing and looking at files.
    entry(&["ls", "dir", "vdir"], "-a -A -b -B -c -C -d -f -F -g -G -h -H -i -I=text -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -T=number -u -U -v -w=number -x -X -Z -1 --all --almost-all --author --escape --block-size=text --ignore-backups --color[=text] --directory --dired --classify[=text] --file-type --format=text --full-time --group-directories-first --no-group --human-readable --si --dereference --hide=text --hyperlink[=text] --indicator-style=text --inode --ignore=text --kibibytes --numeric-uid-gid --literal --quote-name --quoting-style=text --reverse --recursive --size --sort=text --time=text --time-style=text --width=number --context --zero --help --version", "path*")
        .here().any_word().dereferences("-L --dereference")
        .ok(&["ls", "ls -la", "ls -la src --color=always", "ls *.toml", "ls -- *", "ls -I '*.o'"])
        .not(&["ls --colo", "ls -la $(cat f)", "ls {a,b}", "./ls"]),
    entry(&["cat", "tac"], "-A -b -e -E -n -s -t -T -u -v -r -S=text --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting --before --regex --separator=text", "file*")
        .any_word()
        .ok(&["cat a b", "cat -n a", "cat", "cat src/*", "tac names.txt"])
        .not(&["cat $X", "cat `ls`", "cat --numb a", "cat */../../etc/passwd", "cat .*", "cat .*/x"]),
    entry(&["head"], "-c=number -n=number -q -v -z -# --bytes=number --lines=number --quiet --silent --verbose --zero-terminated", "file*")
        .any_word()
        .ok(&["head -n 50 f", "head -20 f", "head -n5 -q a b", "ls | head"])
        .not(&["head --line=5 f", "head -n $(cat f) g"]),
    entry(&["tail"], "-c=number -n=number -q -v -z -# --bytes=number --lines=number --quiet --silent --verbose --zero-terminated", "file*")
        .ok(&["tail -n 20 f", "tail -5 f", "tail -n +3 f"])
        .not(&["tail -f f", "tail -nf", "tail --follow f", "tail -F f", "tail *"]),
    entry(&["wc"], "-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total=text", "file*")
        .any_word()
        .ok(&["wc -l f", "wc -lw a b", "wc src/*.rs"])
        .not(&["wc --files0-from=f"]),
    entry(&["nl"], "-b=text -d=text -f=text -h=text -i=number -l=number -n=text -p -s=text -v=number -w=number --body-numbering=text --number-width=number", "file*")
        .any_word().ok(&["nl -ba f"]).not(&["nl --body f"]),
    entry(&["stat"], "-L -f -c=text -t --dereference --file-system --format=text --printf=text --terse", "file*")
        .any_word().ok(&["stat f", "stat -c '%s %n' f"]).not(&["stat --cached=always f"]),
    entry(&["file"], "-b -h -i -k -L -N -n -r -0 --brief --mime --mime-type --mime-encoding --keep-going --no-dereference --dereference --print0", "file*")
        .ok(&["file Cargo.toml", "file -b --mime-type f"])
        .not(&["file -f list", "file -C", "file -m magic f", "file -z f", "file *"]),
    entry(&["du"], "-0 -a -b -c -d=number -D -h -H -k -l -m -P -s -S -t=text -x --all --apparent-size --bytes --total --max-depth=number --human-readable --si --summarize --separate-dirs --threshold=text --time[=text] --time-style=text --exclude=text --one-file-system --inodes --count-links", "path*")
        .here().any_word()
        .ok(&["du -sh .", "du -d 1 -h src", "du --max-depth=1"])
        .not(&["du -L .", "du --files0-from=f", "du -X f ."]),
    entry(&["df"], "-a -B=text -h -H -i -k -l -P -T -t=text -x=text --all --block-size=text --human-readable --si --inodes --local --portability --total --print-type --type=text --exclude-type=text --output[=text]", "path*")
        .ok(&["df -h", "df -hT .", "df -i"]).not(&["df --sync", "df --huma"]),
    entry(&["tree"], "-a -C -d -D -f -F -g -h -i -I=text -L=number -n -N -p -P=text -Q -r -s -S -t -u -v --dirsfirst --filelimit=number --gitignore --noreport --prune --charset=text --du --si --sort=text", "path*")
        .here()
        .ok(&["tree -L 2", "tree -a -I 'target|node_modules' src"])
        .not(&["tree -o out", "tree -l", "tree -R -H x -L 1", "tree *"]),
    entry(&["realpath"], "-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --logical --physical --quiet --relative-to=path --relative-base=path --strip --no-symlinks --zero", "path*")
        .any_word().ok(&["realpath src"]).not(&["realpath --rel=x src"]),
    entry(&["readlink"], "-f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline", "path*")
        .any_word().ok(&["readlink -f a"]).not(&["readlink --canon a"]),
    entry(&["basename"], "-a -s=text -z --multiple --suffix=text --zero", "text*")
        .any_word().ok(&["basename src/main.rs .rs", "basename \"$(pwd)\""]).not(&["basename --mult a"]),
    entry(&["dirname"], "-z --zero", "text*")
        .any_word().ok(&["dirname src/main.rs"]).not(&["dirname --zer a"]),
    entry(&["fd", "fdfind"], "-H -I -i -s -g -F -a -p -0 -1 -q -E=text -e=text -t=text -d=number -S=text -j=number --hidden --no-ignore --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --full-path --print0 --quiet --exclude=text --extension=text --type=text --max-depth=number --min-depth=number --exact-depth=number --max-results=number --size=text --changed-within=path --changed-before=path --newer=path --older=path --color=text --prune --one-file-system --no-ignore-vcs --no-ignore-parent --unrestricted -u --version", "text? path*")
        .here()
        .ok(&["fd", "fd main src", "fd -e rs . src", "fd -H -t d config"])
        .not(&["fd -x rm", "fd -X rm", "fd --exec rm", "fd -l x", "fd -L x", "fd x /etc", "fd -C / x", "fd --base-directory=/ x", "fd --search-path / x", "fd *", "fd -tx -xrm"]),
    entry(&["nm"], "-a -A -C -D -g -n -p -r -S -u --demangle --dynamic --defined-only --undefined-only --extern-only --print-size --size-sort", "input input*")
        .ok(&["nm -D lib.so"]).not(&["nm --plugin ./x a.o", "nm @x", "nm -l a", "nm -D"]),
    entry(&["readelf"], "-a -h -l -S -s -d -n -r -V -W -e --all --file-header --program-headers --sections --symbols --dynamic --notes --wide", "input input*")
        .ok(&["readelf -h a.out"]).not(&["readelf --debug-dump=links a", "readelf @x", "readelf -wK a"]),
    entry(&["objdump"], "-f -h -p -t -T -x -d -r -R --file-headers --section-headers --private-headers --syms --dynamic-syms --all-headers --disassemble", "input input*")
        .ok(&["objdump -h a.out"]).not(&["objdump -S a", "objdump -l a", "objdump @x", "objdump --dwarf=follow-links a"]),
    entry(&["ldconfig"], "-p --print-cache", "").needs("-p --print-cache").ok(&["ldconfig -p"]).not(&["ldconfig", "ldconfig -p -C x"]),
    entry(&["strings"], "-a -f -n=number -t=text -e=text -w --all --bytes=number --radix=text -#", "input*")
        .ok(&["strings -n 8 f.bin"]).not(&["strings -T x f", "strings @options"]),
    // Text.
    entry(&["sort"], "-b -d -f -g -h -i -k=text -M -m -n -r -R -s -t=text -u -V -z -c -C --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --key=text --month-sort --merge --numeric-sort --reverse --stable --field-separator=text --unique --version-sort --zero-terminated --check[=text] --sort=text --parallel=number", "file*")
        .ok(&["sort f", "sort -rn", "sort -t, -k2,2n f", "LANG=C sort f", "sort src/*.txt"])
        .not(&["sort -o out f", "sort -oout f", "sort --output=x f", "sort --compress-program=./x f", "sort --compress-prog=./x f", "sort -T /tmp f", "sort -S 1 f", "sort *", "sort --files0-from=f"]),
    entry(&["uniq"], "-c -d -D -f=number -i -s=number -u -w=number -z --count --repeated --all-repeated[=text] --skip-fields=number --ignore-case --skip-chars=number --unique --zero-terminated --check-chars=number --group[=text]", "file?")
        .ok(&["uniq", "uniq -c f", "sort a | uniq -c"])
        .not(&["uniq a b", "uniq *", "uniq -c a b"]),
    entry(&["cut"], "-b=text -c=text -d=text -f=text -n -s -z --bytes=text --characters=text --delimiter=text --fields=text --complement --only-delimited --output-delimiter=text --zero-terminated", "file*")
        .any_word().ok(&["cut -d: -f1 f", "cut -c1-10"]).not(&["cut --delim=: f"]),
    entry(&["tr"], "-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1", "text text?")
        .ok(&["tr a-z A-Z", "tr -d '\\n'"]).not(&["tr --del x"]),
    entry(&["paste"], "-d=text -s -z --delimiters=text --serial --zero-terminated", "file*")
        .any_word().ok(&["paste -d , a b"]).not(&["paste --delim=, a"]),
    entry(&["join"], "-a=number -e=text -i -j=number -o=text -t=text -v=number -1=number -2=number -z --ignore-case --check-order --nocheck-order --header", "file file")
        .ok(&["join -t, a b"]).not(&["join --head a b"]),
    entry(&["comm"], "-1 -2 -3 -z --check-order --nocheck-order --output-delimiter=text --total", "file file")
        .ok(&["comm -12 a b"]).not(&["comm --tot a b", "comm <(sort a) <(sort b)", "comm <(touch x) a"]),
    entry(&["diff"], "-a -b -B -c -C=number -d -e -E -F=text -i -I=text -n -N -p -q -r -s -t -T -u -U=number -w -W=number -x=text -y -Z --text --brief --color[=text] --context[=number] --unified[=number] --side-by-side --suppress-common-lines --left-column --width=number --ignore-case --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-trailing-space --ignore-matching-lines=text --recursive --new-file --report-identical-files --show-c-function --exclude=text --minimal --speed-large-files --no-dereference --strip-trailing-cr --normal", "file file")
        .walks("-r --recursive").compares()
        .ok(&["diff a b", "diff -u a b", "diff -rq src docs", "diff - a", "diff a src"])
        .not(&["diff -l a b", "diff --paginate a b", "diff --to-file=x a", "diff a b c", "diff a *", "diff -N . src", "diff -r . src", "diff src .", "diff .env.example .env", "diff a/.env .", "diff <(sort a) ."]),
    entry(&["cmp"], "-b -i=text -l -n=number -s --print-bytes --ignore-initial=text --verbose --bytes=number --quiet --silent", "file file number? number?")
        .ok(&["cmp -s a b"]).not(&["cmp --prin a b"]),
    entry(&["fold"], "-b -s -w=number -# --bytes --spaces --width=number", "file*").any_word().ok(&["fold -w 80 f"]).not(&["fold --wid=8 f"]),
    entry(&["fmt"], "-c -p=text -s -t -u -w=number -# --width=number", "file*").any_word().ok(&["fmt -w 80 f"]).not(&["fmt --wid=8 f"]),
    entry(&["expand", "unexpand"], "-a -i -t=text --all --first-only --initial --tabs=text", "file*").any_word().ok(&["expand -t 4 f"]).not(&["expand --tab=4 f"]),
    entry(&["shuf"], "-e -i=text -n=number -z --head-count=number --input-range=text --zero-terminated", "file?")
        .ok(&["shuf -n 5 f"]).not(&["shuf -o out f", "shuf --random-source=x f", "shuf a b"]),
    // With colons an archive's name is another machine's.
    entry(&["tar"], "-t -v -z -j -J -f=archive --list --verbose --gzip --bzip2 --xz --zstd --file=archive", "text*").needs("-t --list")
        .ok(&["tar -tzf a.tar.gz", "tar --list -f a.tar", "tar -tf a.tar"])
        .not(&["tar -xf a.tar", "tar -tf h:a.tar", "tar -tf a.tar -I ./x", "tar -tf a.tar --to-command=x", "tar --lis -f a", "tar -tf a.tar -C /", "tar -tf .env"]),
    entry(&["tar"], "", "tarkey archive text*")
        .ok(&["tar tf a.tar", "tar tzvf a.tgz"]).not(&["tar xf a.tar", "tar cf a.tar b", "tar tf h:a", "tar tIf ./x a", "tar tfx a", "tar tf a --to-command=x"]),
    entry(&["zcat", "gzcat", "bzcat", "xzcat", "zstdcat", "lzcat"], "", "packed*").ok(&["zcat log.gz | head", "zcat log"]).not(&["zcat -f a", "zcat /etc/x.gz", "zcat ../x"]),
    entry(&["gzip", "xz", "zstd"], "-l -v --list --verbose", "packed*").needs("-l --list").ok(&["gzip -l a.gz"]).not(&["gzip a", "gzip -d a.gz", "gzip -lf a"]),
    entry(&["unzip"], "-l -q", "zip text*").needs("-l").options_first()
        .ok(&["unzip -l a.zip", "unzip -ql a"]).not(&["unzip a.zip", "unzip -l - a.zip", "unzip a.zip -l", "unzip -lo a.zip", "unzip -o a.zip -d ..", "unzip -l '*.zip'", "unzip -l 'a[b]'"]),
    entry(&["rev"], "-0", "path*").any_word().ok(&["rev f"]).not(&["rev --x f"]),
    entry(&["column"], "-c=number -e -H=text -J -l=number -L -n=text -N=text -o=text -O=text -R=text -s=text -t -T=text -x --table --separator=text --output-separator=text --table-columns=text --json --output-width=number", "path*")
        .any_word().ok(&["column -t -s, f"]).not(&["column --tab f"]),
    entry(&["grep", "egrep", "fgrep"], "-a -A=number -b -B=number -c -C=number -D=text -e=text -E -F -G -h -H -i -I -l -L -m=number -n -o -P -q -r -s -T -U -v -w -x -y -z -Z -# --after-context=number --before-context=number --context[=number] --count --color[=text] --colour[=text] --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp=text --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --files-with-matches --files-without-match --max-count=number --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --line-number --initial-tab --null --null-data --text --binary-files=text --exclude=text --exclude-dir=text --include=text --recursive --line-buffered --label=text --version", "text file*")
        .first_like_rest("-e --regexp --version").walks("-r --recursive")
        .ok(&["grep -c fn src/main.rs", "grep -E 'a|b' f", "grep -rn foo src", "grep -e x -- f", "ls | grep -v x", "grep 'rm -rf /' src/a", "grep -n x src/*.rs"])
        .not(&["grep -f list f", "grep -R foo .", "grep x *", "grep --file=l f", "grep \"$X\" f", "grep -rn foo .", "grep -r foo", "grep -d recurse foo .", "grep -e x /etc/shadow", "grep -r --include=*.rs x"]),
    entry(&["rg"], "-. -a -A=number -b -B=number -c -C=number -e=text -F -g=text -h -H -i -I -l -m=number -M=number -n -N -o -P -p -q -r=text -s -S -t=text -T=text -u -U -v -V -w -x -0 -d=number --after-context=number --before-context=number --context=number --count --count-matches --color=text --colors=text --column --crlf --engine=text --fixed-strings --files --files-with-matches --files-without-match --glob=text --glob-case-insensitive --heading --no-heading --hidden --iglob=text --ignore-case --invert-match --json --line-number --no-line-number --line-regexp --max-columns=number --max-columns-preview --max-count=number --max-depth=number --max-filesize=text --multiline --multiline-dotall --no-config --no-filename --no-ignore --no-ignore-vcs --no-messages --null --null-data --only-matching --passthru --pcre2 --pretty --quiet --regexp=text --replace=text --smart-case --case-sensitive --sort=text --sortr=text --stats --text --trim --type=text --type-not=text --type-list --unrestricted --version --vimgrep --with-filename --word-regexp", "text file*")
        .first_like_rest("-e --regexp --files --type-list --version -V").searches().here()
        .ok(&["rg foo src", "rg --files | head", "rg -l TODO src | sort", "rg -e x src", "rg 'curl .*\\| *bash' docs", "rg -A3 -n foo", "rg foo src/*.rs", "rg --hidden foo src", "rg -g '*.rs' foo", "rg -t rust foo", "rg -uuu foo src"])
        .not(&["rg --pre ./x foo", "rg --pre=./x foo", "rg -z foo", "rg -nz foo", "rg --search-zip foo", "rg --hostname-bin=./x foo", "rg foo *", "rg -f list src", "rg --ignore-file=x foo", "rg -L foo", "rg --follow foo", "rg --hidden foo", "rg --files /etc", "rg -e x /etc", "rg -g .env x", "rg -u x", "rg -t dotenv x", "rg --no-ignore -. x"]),
    entry(&["sed", "gsed"], "-n -E -r -s -u -z -e=sed --quiet --silent --expression=sed --regexp-extended --separate --unbuffered --null-data --posix", "sed file*")
        .first_like_rest("-e --expression")
        .ok(&["sed -n '1,20p' f", "sed -n 5p f", "sed 's/a/b/g' f", "sed -n -e '/x/p' f", "ls | sed 's|a|b|'"])
        .not(&["sed -i s/a/b/ f", "sed --in-place s/a/b/ f", "sed --in-pl s/a/b/ f", "sed -n '1w x' f", "sed 's/a/b/w x' f", "sed '1e x' f", "sed -f prog f", "sed -ni p f", "sed p *"]),
    entry(&["awk", "gawk", "mawk", "nawk"], "-F=text -v=text", "awk file*").options_first()
        .ok(&["awk '{print $1}' f", "awk -F: '{print $1}' f", "ls -l | awk '{s+=$5} END {print s}'"])
        .not(&["awk -f prog f", "awk '{print > \"x\"}' f", "awk 'BEGIN{system(\"x\")}'", "awk '{print | \"sh\"}' f", "awk -i inplace '1' f", "awk \"$X\" f", "awk 1 f ../x"]),
    entry(&["jq"], "-a -c -C -e -j -M -n -r -R -s -S --ascii-output --compact-output --color-output --exit-status --join-output --monochrome-output --null-input --raw-output --raw-output0 --raw-input --slurp --sort-keys --tab --indent=number --arg=text,text --argjson=text,text --stream --unbuffered --version", "jq file*")
        .ok(&["jq . f.json", "jq -r '.scripts | keys[]' package.json", "jq --arg a b '.x == $a' f"])
        .not(&["jq -f prog f", "jq --from-file prog f", "jq -L . . f", "jq --slurpfile a f .", "jq --rawfile a f .", "jq env", "jq -n '$ENV'", "jq -n 'import \"a\" as a; .'"]),
    entry(&["od"], "-A=text -a -b -c -d -f -i -j=text -l -N=text -o -s -t=text -v -w[=number] -x -S=text --address-radix=text --skip-bytes=text --read-bytes=text --format=text --output-duplicates", "file*").any_word().ok(&["od -c f", "od -A x -t x1z f"]).not(&["od --form=x f"]),
    entry(&["hexdump", "hd"], "-b -c -C -d -e=text -n=text -o -s=text -v -x", "path*").ok(&["hexdump -C f"]).not(&["hexdump -f prog f"]),
    entry(&["xxd"], "-a -b -c=number -C -e -g=number -i -l=number -o=number -p -ps -s=number -u", "file?").options_first().ok(&["xxd f.bin", "xxd -l 16 f", "xxd -p f"]).not(&["xxd -r f", "xxd a b", "xxd -r -p a b", "xxd f -p", "xxd - -p", "xxd -seek f"]),
    entry(&["base64", "base32"], "-d -i -w=number --decode --ignore-garbage --wrap=number", "file?").ok(&["base64 f", "base64 -d f"]).not(&["base64 a b", "base64 --deco f"]),
    entry(&["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum", "sum", "shasum", "md5"], "-b -t -z -l=number -a=text -r -s -q --binary --text --tag --zero --length=number --algorithm=text", "file*")
        .ok(&["sha256sum f", "md5sum a b", "cksum f"]).not(&["sha256sum -c list", "md5sum --check list", "md5sum *"]),
    // The shell's own.
    entry(&["echo"], "", "text*").raw().builtin()
        .ok(&["echo hello", "echo -e 'a\\n'", "echo \"$(git rev-parse HEAD)\"", "echo $((1+2))", "echo *", "echo $?", "echo \"$HOME\"", "echo ';' touch x"])
        .not(&["echo $(touch x)", "echo `touch x`", "echo $TOKEN", "echo ${x@P}", "echo x > f", "echo =(touch x)"]),
    entry(&["printf"], "", "printf text*").raw().builtin()
        .ok(&["printf '%s\\n' a b", "printf hello"]).not(&["printf -v PATH %s .", "printf \"$X\"", "printf %n PATH", "printf %5n x", "printf -vPATH x"]),
    entry(&["true", "false", ":"], "", "text*").raw().builtin().ok(&["true", ": x"]).not(&["true > f"]),
    entry(&["pwd"], "-L -P --logical --physical", "").builtin().ok(&["pwd", "pwd -P"]).not(&["pwd --phys"]),
    entry(&["test"], "", "test").raw().builtin()
        .ok(&["test -f Cargo.toml", "test -d src -a -f a", "test \"$(pwd)\" = x", "test ! -e a", "test 1 -lt 2"])
        .not(&["test -v 'a[$(touch x)]'", "test -v a", "test -f /etc/shadow", "test $X"]),
    entry(&["["], "", "test ]").raw().builtin().ok(&["[ -d src ]", "[ a = b ] && echo x"]).not(&["[ -v x ]", "[ -R x ]", "[ -f a"]),
    entry(&["type"], "-a -f -p -P -t", "text*").builtin().any_word().ok(&["type ls"]).not(&["type -x ls", "type -a git"]),
    entry(&["tee"], "-a -i --append --ignore-interrupts", "nowhere*").may_change()
        .ok(&["ls | tee", "ls | tee /dev/null", "ls | tee -a /dev/stderr"]).not(&["ls | tee out", "ls | tee -", "ls | tee /dev/null out"]),
    // Questions about the machine.
    entry(&["printenv"], "", "shown shown*").ok(&["printenv PATH", "printenv HOME USER"]).not(&["printenv", "printenv GITHUB_TOKEN", "printenv -0", "printenv PATH AWS_SECRET_ACCESS_KEY"]),
    entry(&["lsof"], "-i[=port] -l -n -P -t -w -sTCP:LISTEN", "port?").needs("-i")
        .ok(&["lsof -i :3000", "lsof -i", "lsof -nP -iTCP:8080 -sTCP:LISTEN", "lsof -ti :3000", "lsof -i :3000 -t"]).not(&["lsof", "lsof f", "lsof -i @evil.example:80", "lsof -i :3000 f", "lsof +D ."]),
    entry(&["which"], "-a -s", "text*").ok(&["which cargo", "which -a git"]).not(&["which --read-alias x"]),
    entry(&["whereis"], "-b -m -s", "text*").ok(&["whereis ls"]).not(&["whereis -B . -f ls"]),
    entry(&["whoami", "logname", "tty", "arch", "nproc", "uptime", "groups", "users"], "-a -p -s --all --pretty --since --silent", "")
        .ok(&["whoami", "uptime -p", "nproc --all"]).not(&["nproc --al"]),
    entry(&["who", "w"], "-a -b -f -h -H -i -m -q -r -s -u --all --boot --heading --count --users", "")
        .ok(&["who", "w -h"]).not(&["who /etc/shadow", "who --al"]),
    entry(&["id"], "-a -g -G -n -r -u -z -Z --group --groups --name --real --user", "text?").ok(&["id", "id -un", "id -u root"]).not(&["id --nam"]),
    entry(&["uname"], "-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --operating-system", "").ok(&["uname -a", "uname -sr"]).not(&["uname --mach"]),
    entry(&["hostname"], "-s -I --short --all-ip-addresses", "").ok(&["hostname", "hostname -s"]).not(&["hostname evil", "hostname -F f", "hostname -f"]),
    entry(&["date"], "-u -d=moment -I[=text] -R -r=path --date=moment --iso-8601[=text] --rfc-email --rfc-3339=text --reference=path --utc --universal", "plus?")
        .ok(&["date", "date +%s", "date -u +%FT%TZ", "date -d yesterday", "date -Iseconds"]).not(&["date -s 2020-01-01", "date --set=x", "date -f list", "date 010100002020", "date --se=x", "date -d 'TZ=\"/etc/shadow\" now'"]),
    entry(&["cal", "ncal"], "-1 -3 -h -j -m -s -y -w", "number? number?").ok(&["cal", "cal 2026", "cal -3"]).not(&["cal --x"]),
    entry(&["free"], "-b -k -m -g -h -l -t -v -w --bytes --kibi --mebi --gibi --human --si --lohi --total --wide", "").ok(&["free -h", "free -m"]).not(&["free -s 1", "free --hum"]),
    entry(&["ps"], "-A -a -d -e -f -F -H -j -l -L -M -T -w -y -o=columns -p=text -C=text -aux -auxw -auxww -auxf --forest --no-headers --headers --sort=text --pid=text --ppid=text --format=columns --user=text --cols=number --width=number", "ps?")
        .ok(&["ps", "ps aux", "ps -aux", "ps -ef", "ps -eo pid,comm --sort=-rss", "ps -p 1"]).not(&["ps auxe", "ps -auxe", "ps -eo environ", "ps eww", "ps e", "ps aux e"]),
    entry(&["pgrep", "pidof"], "-a -f -i -l -n -o -x -u=text -c -s -d=text -v --full --list-name --list-full --exact --newest --oldest --count", "text*").ok(&["pgrep -fl node", "pidof bash"]).not(&["pgrep -F f", "pgrep --ful x"]),
    entry(&["lscpu"], "-a -b -c -B -J --all --online --offline --bytes --json", "").ok(&["lscpu", "lscpu -J"]).not(&["lscpu -s x", "lscpu --sysroot=x"]),
    entry(&["lsblk"], "-a -b -d -f -i -J -l -m -n -o=text -p -P -r -S -t --all --bytes --nodeps --fs --json --list --noheadings --output=text --paths --pairs --raw", "").ok(&["lsblk -f", "lsblk -o NAME,SIZE"]).not(&["lsblk --sysroot=x", "lsblk x"]),
    entry(&["locale"], "-a -m --all-locales --charmaps", "").ok(&["locale -a"]).not(&["locale --all"]),
    entry(&["lsb_release"], "-a -c -d -i -r -s -v --all --codename --description --id --release --short", "").ok(&["lsb_release -a"]).not(&["lsb_release x"]),
    entry(&["getconf"], "-a", "text?").ok(&["getconf PAGESIZE"]).not(&["getconf -v x y"]),
    entry(&["seq"], "-f=text -s=text -w --equal-width --separator=text --format=text -#", "number number? number?").ok(&["seq 10", "seq -s, 1 5"]).not(&["seq --sep=, 1"]),
    entry(&["expr"], "", "text*").raw().ok(&["expr 1 + 2"]).not(&["expr 1 > f"]),
    entry(&["factor", "numfmt"], "--to=text --from=text --field=text --suffix=text --padding=number", "text*").ok(&["numfmt --to=iec 1024"]).not(&["numfmt --de x"]),
    entry(&["sleep"], "", "number").ok(&["sleep 1", "sleep 0.5"]).not(&["sleep 1 &", "sleep --x 1"]),
    // Versions.
    entry(&["bash", "cargo", "clang", "clang++", "cmake", "curl", "docker", "g++", "gcc", "gdb", "git-lfs", "ld", "make", "node", "npm", "openssl", "perl", "php", "pip", "pip3", "python", "python3", "rg", "ruby", "rustc", "rustfmt", "ssh", "tmux", "wget", "zsh"], "--version", "")
        .needs("--version")
        .ok(&["cargo --version", "node --version", "python3 --version", "gcc --version"])
        .not(&["yarn --version", "node --version x", "NODE_OPTIONS='--require ./x' node --version", "python3 --versio", "bash -v"]),
    entry(&["node", "npm", "php", "perl"], "-v", "").needs("-v").ok(&["node -v", "npm -v"]).not(&["node -v x.js", "node -ve 1"]),
    entry(&["python", "python3", "rustc", "cargo", "ssh", "pip", "pip3"], "-V", "").needs("-V").ok(&["python3 -V", "cargo -V"]).not(&["python3 -V x.py", "python3 -c 1"]),
    entry(&["java", "javac"], "-version --version", "").needs("-version --version").ok(&["java -version"]).not(&["java -version -jar x", "java x"]),
    // A module chooses the toolchain, which is fetched if it is not there.
    entry(&["go"], "", "goversion").without(&["go.mod", "go.work"]).ok(&["go version"]).not(&["go version x", "go -C .. version", "go version -m ./x"]),
    entry(&["go"], "", "goenv gosetting gosetting*").without(&["go.mod", "go.work"]).ok(&["go env GOPATH", "go env GOOS GOARCH"]).not(&["go env", "go env GOPROXY", "go env -w GOFLAGS=x", "go env GOFLAGS"]),
    entry(&["cargo"], "--list", "").needs("--list").without(&[".cargo/config", ".cargo/config.toml"]).ok(&["cargo --list"]).not(&["cargo --list x", "cargo build --list"]),
    // Modules of the folder it runs in come before its own.
    entry(&["python3"], "-m=jsontool --compact --indent=number --json-lines --no-ensure-ascii --no-indent --sort-keys", "file?").needs("-m").options_first()
        .unless_matched(&["*.py", "*.pyc", "*.so", "*/__init__.*"])
        .ok(&["python3 -m json.tool f.json", "cat f | python3 -m json.tool", "python3 -m json.tool --indent 2 f"]).not(&["python3 -m json.tool a b", "python3 -m http.server", "python3 f -m json.tool", "python3 -m json", "python3 -m json.tool .env"]),
];
