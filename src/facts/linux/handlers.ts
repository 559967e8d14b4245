import { HANDLERS } from '../../components/runtimes/handlers.ts';
import type { Inventory } from '../../model/inventory.ts';
import { lines, probe } from '../../shell/probe.ts';
import { script } from '../../templates.ts';

/** Of the programs and devices that the inventory's handlers need on the host: the paths of those that are there. */
export const handlerPrograms = ({ runtime: { handlers } }: Inventory) =>
  probe(
    script('linux/probe-handler-programs.sh', {
      PROGRAMS: handlers.flatMap(({ kind, path }) => HANDLERS[kind].programs(path)),
      DEVICES: handlers.flatMap(({ kind }) => HANDLERS[kind].device?.path ?? []),
    }),
    (out): ReadonlySet<string> => new Set(lines(out)),
  );
