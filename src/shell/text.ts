/**
 * How many letters must be added, taken away, changed or swapped with their neighbour to make one word of the other.
 */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, beforeLast[j - 2]! + 1);
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

/** The known word that the user most likely meant; undefined when none is close. Case does not count. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > 64) return undefined;
  const ranked = known
    .map((candidate) => ({ candidate, letters: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, letters }) => letters <= Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3)))
    .sort((a, b) => a.letters - b.letters);
  return ranked[0]?.candidate;
}

/** What codes of the operating system and of Node mean, and what to do. Sources: errno(3), getaddrinfo(3). */
const CODES: Readonly<Record<string, readonly [text: string, remedy: string]>> = {
  EACCES: ['permission denied', 'change the rights of the file and its folder, or name another path'],
  EADDRNOTAVAIL: ['this machine has no address to connect from', 'check the network of this machine'],
  EAI_AGAIN: ['no name server answers', 'check the network and the name servers of this machine'],
  ECONNREFUSED: ['connection refused', 'start the server, or correct its port'],
  ECONNRESET: ['the connection was reset', 'run the same command again'],
  EDQUOT: ['the quota of this disk is used up', 'make room, or name a path on another disk'],
  EEXIST: ['it is there already', 'name another path'],
  EFBIG: [
    'the file would become larger than is allowed (ulimit -f)',
    'raise the limit, or name a path on another disk',
  ],
  EHOSTUNREACH: ['no route to it', 'is the host up, and is its address right?'],
  EINVAL: ['the system does not allow that there', 'name another path'],
  EIO: ['the disk failed to read or write', 'see the log of the system (dmesg), and name a path on another disk'],
  EISDIR: ['is a folder', 'name a file'],
  ELOOP: ['has too many links', 'name another path'],
  EMFILE: ['this process may not open more files', 'raise the limit: ulimit -n'],
  ENAMETOOLONG: ['the path is too long', 'name a shorter one'],
  ENETUNREACH: ['no route to its network', 'check the network of this machine'],
  ENFILE: ['the system may not open more files', 'end other programs, or raise fs.file-max'],
  ENOENT: ['there is no such file or folder', 'check the path; kbuild does not create its folder'],
  ENOMEM: ['there is not enough memory', 'end other programs'],
  ENOSPC: ['the disk is full', 'make room, or name a path on another disk'],
  ENOTDIR: ['a part of the path is no folder', 'check the path'],
  ENOTFOUND: ['the name does not resolve', 'check the name'],
  EPERM: [
    'the system does not allow it',
    'check the owner and the attributes of the file (lsattr), or name another path',
  ],
  EROFS: ['the disk is read-only', 'name a path on another disk'],
  ETIMEDOUT: ['no answer in time', 'is the host up, and its port open?'],
  ETXTBSY: ['the program is running', 'end it first'],
};

/** True if the operating system, and no mistake of kbuild, caused the error: Node gives it a code and a system call. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException => {
  const { code, syscall } = error as { readonly code?: unknown; readonly syscall?: unknown };
  return error instanceof Error && typeof code === 'string' && typeof syscall === 'string' && code in CODES;
};

/** What an error says in words: `the disk is full`. Its own message where the code is unknown. */
export function systemText(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  const known = typeof code === 'string' ? CODES[code]?.[0] : undefined;
  return known ?? (error instanceof Error ? error.message : String(error));
}

/** What the operator can do about an error of the system; undefined for any other. */
export function systemRemedy(error: unknown): string | undefined {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? CODES[code]?.[1] : undefined;
}

/** Characters that a message shows of a host's unexpected text. */
const EXCERPT = 200;

/** The beginning of a text as one line of at most `most` characters; `…` ends one that was cut. */
export function excerpt(text: string, most: number = EXCERPT): string {
  // White space shrinks: twice the limit is enough, and an answer may have 64 MiB.
  const looked = text.slice(0, 2 * most);
  const line = looked.replaceAll(/\s+/g, ' ').trim();
  if (line.length > most) return `${line.slice(0, most - 1)}…`;
  return text.length > looked.length ? `${line.slice(0, most - 1)}…` : line;
}

/** The text without what repeats at its end. Unlike `/x+$/`, it takes a time that grows with the length alone. */
export function withoutEnd(text: string, repeated: string): string {
  let end = text.length;
  while (text.endsWith(repeated, end) && end > 0) end -= repeated.length;
  return text.slice(0, end);
}

/** The text without blanks around it, and without the quotes around that. */
export const unquoted = (text: string): string => text.trim().replace(/^["']/, '').replace(/["']$/, '');

/**
 * True if the pattern matches the whole name: `*` stands for any characters, with `single` also `?` for one. Takes at
 * most pattern × name steps, whatever the pattern: a regular expression with several `.*` takes exponentially many.
 */
export function matchesGlob(
  pattern: string,
  name: string,
  { single = false }: { readonly single?: boolean } = {},
): boolean {
  let at = 0;
  let place = 0;
  // Where the last `*` stands, and up to where it reaches: only the last one ever has to grow.
  let star = -1;
  let reach = 0;
  while (place < name.length) {
    const wanted = pattern[at];
    if (wanted === '*') {
      star = at++;
      reach = place;
    } else if (wanted !== undefined && (wanted === name[place] || (single && wanted === '?'))) {
      at++;
      place++;
    } else if (star === -1) return false;
    else {
      at = star + 1;
      place = ++reach;
    }
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
