import { RERUN, type Signature } from './signature.ts';

/** Messages of apt and dpkg, of dnf and dnf5, zypper and rpm. */
export const packageSignatures: readonly Signature[] = [
  {
    name: 'apt-lock',
    seen: /Could not get lock|is locked by another process|gave up after \d+ s: \S+ is held by/,
    cause: 'another program installs packages, and did not end in ten minutes',
    remedy: 'let it end (unattended-upgrades, cloud-init); kbuild never kills it',
  },
  {
    name: 'key-expired',
    seen: /EXPKEYSIG|The following signatures were invalid: EXPKEYSIG|key .* expired/i,
    cause: "the repository's signing key has expired",
    remedy: `${RERUN}: kbuild fetches a key that has run out anew, once a day. If it stays, set repository.key to a copy that the vendor has extended`,
  },
  {
    name: 'lists-expired',
    seen: /Release file for \S+ is expired/,
    cause: "the repository's lists have expired: a mirror that is no longer updated, or a clock that is ahead",
    remedy: 'choose another mirror (repository.url), or set the clock of the host',
  },
  {
    name: 'key-missing',
    seen: /NO_PUBKEY|The following signatures couldn't be verified|GPG check FAILED|Public key for \S+ is not installed|New repository or package signing key received|OpenPGP check for package \S+ .*has failed/,
    cause: 'the repository is signed with another key than the one of the inventory',
    remedy: 'compare repository.key and repository.fingerprint with what the repository publishes',
  },
  {
    name: 'not-signed',
    seen: /repository .* is not signed|does not have a Release file|File '\S+' from repository '\S+' is unsigned|Repository type can't be determined|Failed to download metadata \(baseurl/,
    cause: 'the repository is not there, or not signed',
    remedy: 'check repository.url: is it reached from the host (proxy)?',
  },
  {
    name: 'hash-mismatch',
    seen: /Hash Sum mismatch|File has unexpected size|checksum mismatch|checksum doesn't match|Package \S+ is not signed|Digest verification failed|modified after it has been signed/i,
    cause: 'a package is not what the repository says it is: a mirror in the middle of an update, or a broken proxy',
    remedy: `${RERUN} later; if it stays, go round the mirror or proxy`,
  },
  {
    name: 'package-gone',
    seen: /404 {2}Not Found|is in no repository of this host|Status code: 404 for|' not found on medium '/,
    cause: 'the repository does not have this version',
    remedy: 'choose a version that it has, or check repository.url',
  },
  {
    name: 'package-excluded',
    seen: /is excluded by the settings of dnf on this host/,
    cause: 'an exclude= of the host hides the package that kbuild is to install',
    remedy: 'take the package out of that exclude=; kbuild locks its packages at their versions itself',
  },
  {
    name: 'package-locked',
    seen: /is locked by the settings of zypper on this host/,
    cause: 'a lock of the host keeps the package that kbuild is to install as it is',
    remedy: 'take the lock away: zypper removelock NAME; kbuild locks its packages at their versions itself',
  },
  {
    name: 'dpkg-interrupted',
    seen: /dpkg was interrupted|dpkg: error processing package (\S+)/,
    cause: 'an installation broke off, and finishing it failed',
    remedy: 'the package that is named does not configure: see its output in the log',
  },
  {
    name: 'dependencies',
    seen: /unmet dependencies|held broken packages|Problem: conflicting requests|nothing provides \S+ needed by/,
    cause: 'packages of the host contradict each other',
    remedy: 'mend them on the host (apt-get -f install, dnf check, zypper verify), then run the same command again',
  },
];
