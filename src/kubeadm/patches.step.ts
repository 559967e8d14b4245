import { runs } from '../engine/combinators.ts';
import type { Change, Step } from '../engine/step.ts';
import { paths } from '../paths.ts';
import { runtimeMove } from '../runtime/runtime-change.ts';
import { sha256Of } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import { hostPatches } from './kubelet-config.ts';

/**
 * Writes the inventory's patches and the host's kubelet settings to kubeadm's patches folder. Removes other files
 * there.
 */
export const kubeadmPatches: Step = {
  name: 'kubeadm-patches',
  watches: { trees: [paths.kubeadmPatches] },
  diff: ({ inventory, host, facts }) => {
    const patches = Object.entries(hostPatches(inventory, host, runtimeMove(inventory, host, facts)?.from));
    const wanted = new Map(patches.map(([name, content]) => [`${paths.kubeadmPatches}/${name}`, content]));
    const writes = [...wanted].flatMap(([path, content]): readonly Change[] => {
      const found = facts.files.get(path);
      if (found?.kind === 'file' && found.sha256 === sha256Of(content)) return [];
      return [
        {
          summary: `write ${path} (found ${found === undefined || found.kind === 'absent' ? 'none' : 'another content'})`,
          apply: (on) => on(host).write(path, content),
          preview: () => Promise.resolve(`${path}\n${content}`),
        },
      ];
    });
    const extra = [...facts.files.keys()].filter(
      (path) => path.startsWith(`${paths.kubeadmPatches}/`) && !wanted.has(path),
    );
    const removals = extra.map((path): Change => ({
      summary: `remove ${path} (not in the inventory)`,
      apply: runs(host, sh`rm -f -- ${path}`),
    }));
    return [...writes, ...removals];
  },
};
