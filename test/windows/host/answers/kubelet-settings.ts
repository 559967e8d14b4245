import { parse, stringify } from 'yaml';
import { filesOf } from '../machine.ts';
import type { Answer } from '../script.ts';
import { restartInTime } from '../services.ts';

const CONFIG = 'C:\\var\\lib\\kubelet\\config.yaml';

/** kubeadm merges the patches into the configuration; the cluster's own is the one of the join. */
export const answer: Answer = async (machine, { Patches }, { host }) => {
  const files = filesOf(machine);
  const patches = files
    .under(Patches as string)
    .toSorted()
    .map((path) => parse(files.text(path)!) as object);
  const before = parse(files.text(CONFIG)!) as object;
  files.put(CONFIG, stringify(Object.assign({}, before, ...patches)));
  await restartInTime(machine, host, 'kubelet');
  return { output: [] };
};
