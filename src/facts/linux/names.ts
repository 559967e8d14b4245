import { sh } from '../../shell/sh.ts';
import { lineOf, probe } from '../../shell/probe.ts';

/** First and last line of kbuild's part of /etc/hosts. */
export const HOSTS_BEGIN = '# BEGIN kbuild';
export const HOSTS_END = '# END kbuild';

/** The node name as the kernel has it. */
export const hostname = probe(sh`uname -n`, lineOf);

/** The name that the host takes at boot; empty without /etc/hostname. */
export const staticHostname = probe(sh`if [ -e /etc/hostname ]; then cat /etc/hostname; fi`, (out) =>
  out
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('')
    .trim(),
);

/** The lines of /etc/hosts between kbuild's two marks; `absent` when they are not there. */
export const hostsBlock = probe(sh`if [ -e /etc/hosts ]; then cat /etc/hosts; fi`, (out) => {
  const text = out.split('\n');
  const begin = text.indexOf(HOSTS_BEGIN);
  const end = text.indexOf(HOSTS_END, begin);
  return begin === -1 || end === -1 ? 'absent' : text.slice(begin + 1, end).join('\n');
});
