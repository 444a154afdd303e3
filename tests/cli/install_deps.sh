# What the dependency installer does where packages are missing, with stand-ins for the system's tools.
mkdir bin
stub() {
    printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
    chmod +x "bin/$1"
}
installer() { PATH=$PWD/bin:$PATH fails "$1" sh "$SOURCE/scripts/install-deps.sh" "$2"; }

echo 'all there: nothing is done'
stub dpkg-query 'echo installed'
stub apt-get 'echo apt-get must not run; exit 1'
installer 0 check

echo 'missing, neither root nor sudo: says what to install'
stub dpkg-query 'case $3 in libzstd-dev | gcc) exit 1 ;; *) echo installed ;; esac'
stub id 'echo 1000'
stub sudo 'exit 1'
installer 1 quickstart

echo 'missing, root: installs just that'
stub id 'echo 0'
stub apt-get 'echo "$*" >>apt.log'
installer 0 quickstart
cat apt.log

echo 'apt-get fails: says so'
stub apt-get 'echo E: no network; exit 100'
installer 1 quickstart
installer 2 everything

echo 'what only some tests need is missing: they are skipped'
stub dpkg-query 'case $3 in munge) exit 1 ;; *) echo installed ;; esac'
installer 0 check
stub id 'echo 1000'
installer 0 check
installer 0 quickstart
stub id 'echo 0'
stub dpkg-query 'case $3 in munge | chromium | tidy) exit 1 ;; *) echo installed ;; esac'
stub apt-get 'case $* in *chromium*) exit 100 ;; esac; echo "$*" >>optional.log'
installer 0 check
cat optional.log
