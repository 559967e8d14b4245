import { lines, timeOf } from '../shell/probe.ts';
import type { CaReader } from './cluster.ts';
import { workloadOf } from './workload-of.ts';

const ROOT_CAS = 'kube-root-ca.crt';

/**
 * The pods that read the cluster's CA and are older than what their namespace gives them now. The API reports whole seconds: a pod that
 * started in the same second counts as older.
 */
export function parseCaReaders(out: string): readonly CaReader[] {
  const rows = lines(out).map((line) => line.split('\t'));
  const given = new Map(
    rows.flatMap(([what, namespace, times = '']) =>
      what === 'given' && namespace !== undefined
        ? [
            [
              namespace,
              Math.max(
                0,
                ...times
                  .split(' ')
                  .filter((time) => time !== '')
                  .map(timeOf),
              ),
            ] as const,
          ]
        : [],
    ),
  );
  return rows.flatMap(
    ([what, namespace = '', name = '', started = '', kind = '', owner = '', hash = '', reads = '']) => {
      if (what !== 'pod' || !reads.split(' ').includes(ROOT_CAS)) return [];
      const startedMs = started === '' ? Infinity : timeOf(started);
      if (startedMs > (given.get(namespace) ?? 0)) return [];
      return [{ namespace, name, workload: workloadOf(kind, owner, hash) }];
    },
  );
}
