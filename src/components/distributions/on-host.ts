import { probe, unexpected, type Probe } from '../../shell/probe.ts';
import type { Family } from './distribution.ts';
import { distributions } from './index.ts';

/**
 * A probe for a host whose distribution is not yet known: the host itself picks the script by the `ID` in its os-release,
 * or by `ID_LIKE` (a derivative has its parent's package manager), and marks the output with the family. `unknown`: the
 * answer of a host whose family kbuild does not know, or has no probe for.
 */
export function onHost<T>(pick: (family: Family) => Probe<T> | undefined, unknown: NoInfer<T>): Probe<T> {
  const families = [...new Map(distributions.map((one) => [one.family, one] as const)).values()];
  const probes = new Map(
    families.flatMap((family) => {
      const picked = pick(family);
      return picked === undefined ? [] : [[family.family, picked] as const];
    }),
  );
  const ids = (family: string) => distributions.filter((one) => one.family === family).map(({ id }) => id);
  const script = [
    'family=',
    // A file may lack either, and `set -u` is on. A file that cannot be read ends the probe: the host is then unknown.
    'ID= ID_LIKE=; ids=$(. /etc/os-release && echo "$ID $ID_LIKE")',
    'for id in $ids; do case $id in',
    ...[...probes.keys()].map((family) => `${ids(family).join(' | ')}) family=${family}; break ;;`),
    'esac; done',
    'case $family in',
    ...[...probes].map(([family, { command }]) => `${family})\necho ${family}\n${command.script}\n;;`),
    'esac',
  ].join('\n');
  const title = [...probes.values()].map(({ command }) => command.title).join(' or ');
  return probe({ shell: 'sh', script, title }, (out, asked) => {
    if (out.trim() === '') return unknown;
    const [family = '', ...answer] = out.split('\n');
    const picked = probes.get(family);
    if (picked === undefined) throw unexpected(family);
    return picked.parse(answer.join('\n'), asked);
  });
}
