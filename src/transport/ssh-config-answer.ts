import { userInfo } from 'node:os';
import type { SshSettings } from '../model/ssh-settings.ts';

/** The settings that `ssh -G` prints for a name, keywords in lower case. */
export type Answer = ReadonlyMap<string, readonly string[]>;

/** Stands for a setting that the configuration does not have: `ssh -G` fills in defaults, which are not kbuild's. */
export const UNSET = '/kbuild-unset';
/** The same, for a user. */
export const UNSET_USER = 'kbuild-unset';

/** Parses what `ssh -G` printed for `name`. */
export function answerOf(text: string, name: string): Answer {
  const found = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [, keyword, value] = /^(\S+) (.*)$/.exec(line) ?? [];
    if (keyword !== undefined) found.set(keyword, [...(found.get(keyword) ?? []), value!]);
  }
  found.set('kbuild-asked', [name]);
  found.set('kbuild-same', [found.get('hostname')?.[0]?.toLowerCase() === name.toLowerCase() ? 'yes' : 'no']);
  return found;
}

/** The values that the configuration really gives: neither `unset`, which stands for none, nor `none`. */
export const set = (values: readonly string[] | undefined, unset: string): readonly string[] =>
  (values ?? []).filter((value) => value !== unset && value !== 'none');

/** The settings of a name: the inventory's, and the configuration's where the inventory has none. */
export function withAnswer<S extends SshSettings>(ssh: S, answer: Answer, name: string, home: string): S {
  const open = new Set(ssh.open);
  const user = set(answer.get('user'), UNSET_USER)[0];
  const alias = set(answer.get('hostkeyalias'), '')[0];
  const port = Number(answer.get('port')?.[0] ?? 22);
  const hostname = answer.get('kbuild-same')?.[0] === 'yes' ? name : (answer.get('hostname')?.[0] ?? name);
  const tokens: Readonly<Record<string, string>> = {
    '%': '%',
    d: home,
    h: hostname,
    k: alias ?? name,
    n: name,
    p: String(open.has('port') ? port : ssh.port),
    r: open.has('user') && user !== undefined ? user : ssh.user,
    u: userInfo().username,
  };
  // ssh -G leaves them as they stand, in identity files; a token that is not known here stays.
  const path = (value: string): string =>
    value.replace(/^~(?=\/)/, home).replaceAll(/%(.)/g, (whole, token: string) => tokens[token] ?? whole);
  const identities = set(answer.get('identityfile'), UNSET).map(path);
  const known = set(answer.get('userknownhostsfile'), UNSET)
    .flatMap((value) => value.split(' '))
    .map(path);
  return {
    ...ssh,
    ...(open.has('user') && user !== undefined ? { user } : {}),
    ...(open.has('port') ? { port } : {}),
    ...(open.has('identityFiles') && identities.length > 0 ? { identityFiles: identities } : {}),
    ...(open.has('knownHostsFiles') && known.length > 0
      ? { knownHostsFiles: [...known, ...ssh.knownHostsFiles.slice(1)] }
      : {}),
    ...(alias === undefined ? {} : { hostKeyAlias: alias }),
  };
}
