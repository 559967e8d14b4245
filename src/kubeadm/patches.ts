import { createHash } from 'node:crypto';
import { hostPatches } from '../configuration/kubelet-config.ts';
import type { Change, Step } from '../engine/step.ts';
import { paths } from '../paths.ts';
import { sh } from '../shell/sh.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** kubeadm's patches directory, which kbuild owns whole: the inventory's patch files and the host's own kubelet settings. */
export const kubeadmPatches: Step = {
  name: 'kubeadm-patches',
  watches: { trees: [paths.kubeadmPatches] },
  diff: ({ inventory, host, facts }) => {
    const wanted = new Map(
      Object.entries(hostPatches(inventory, host)).map(([name, content]) => [
        `${paths.kubeadmPatches}/${name}`,
        content,
      ]),
    );
    const writes = [...wanted].flatMap(([path, content]): readonly Change[] => {
      const found = facts.files.get(path);
      if (found?.kind === 'file' && found.sha256 === sha256(content)) return [];
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
      apply: async (on) => {
        await on(host).run(sh`rm -f -- ${path}`);
      },
    }));
    return [...writes, ...removals];
  },
};
