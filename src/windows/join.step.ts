import { refuseUndo, standing } from '../cluster/standing.ts';
import { runsOnWindows } from '../engine/combinators.ts';
import type { Step } from '../engine/step.ts';
import { isForeignAction } from '../kubeadm/marker.facts.ts';
import { withWorkerJoin, workerJoinText } from '../kubeadm/worker-join.ts';
import { windowsPlugins } from '../network/plugins.value.ts';
import { windowsPaths } from '../paths.ts';
import { secretYaml } from '../shell/yaml.ts';
import { powershell } from '../templates.ts';
import { windowsFolderChanges } from './file.step.ts';
import { windowsJoinConfiguration, windowsKubeadmJob, windowsPatches, windowsResetConfiguration } from './kubeadm.ts';

/** Resets the host after a join or reset of kbuild that did not finish, so that the host can join again. */
export const undoHalfFinished: Step<'windows'> = {
  name: 'undo-half-finished',
  diff: (target) => {
    if (standing(target) !== 'partial') return [];
    const { inventory, host, facts } = target;
    const action = typeof facts.marker === 'object' ? facts.marker.action : 'join';
    return [
      {
        summary:
          `undo a half-finished ${action} of ${inventory.name} (found ${String(facts.kubernetesTraces.size)} ` +
          'leftovers)',
        apply: (on) => {
          refuseUndo(target);
          return windowsKubeadmJob(on(host), inventory, 'reset', secretYaml([windowsResetConfiguration(inventory)]));
        },
      },
    ];
  },
};

/** Network state of a former Node. If it stays, pods have no network after the host joins again. */
const STALE = [windowsPaths.sourceVip, ...windowsPlugins.flatMap(({ ofNode }) => ofNode)];

/** Removes the source address and pod subnet of an earlier membership, before the host joins. */
export const noStaleNetworkState: Step<'windows'> = {
  name: 'no-stale-network-state',
  watches: { files: STALE },
  diff: (target) => {
    const { host, facts } = target;
    const found = STALE.filter((path) => facts.files.at(path) !== undefined);
    if (found.length === 0 || standing(target) === 'joined') return [];
    return [
      {
        summary: `remove what the network of an earlier membership left (found ${found.join(', ')})`,
        apply: runsOnWindows(host, powershell('windows/remove-paths.ps1', { Paths: found })),
      },
    ];
  },
};

/** Writes the patch files that kubeadm applies to the kubelet's configuration. */
export const windowsKubeadmPatches: Step<'windows'> = {
  name: 'kubeadm-patches',
  watches: { trees: [windowsPaths.kubeadmPatches] },
  diff: (target) => {
    const root = `${windowsPaths.kubeadmPatches}\\`;
    const desired = Object.entries(windowsPatches(target.inventory, target.host)).map(([name, content]) => ({
      path: `${root}${name}`,
      content,
    }));
    return windowsFolderChanges(target, root, desired);
  },
};

/** Joins a Windows worker to the cluster with its own bootstrap token, which kbuild deletes afterwards. */
export const joinWindows: Step<'windows'> = {
  name: 'kubeadm-join',
  settleMs: 10 * 60_000,
  diff: (target) => {
    if (standing(target) === 'joined') return [];
    const { inventory, host } = target;
    return [
      {
        summary: workerJoinText(target),
        apply: (on) =>
          withWorkerJoin(target, on, (discovery) =>
            windowsKubeadmJob(
              on(host),
              inventory,
              'join',
              secretYaml([windowsJoinConfiguration(inventory, host, discovery)]),
            ),
          ),
      },
    ];
  },
};

/** Removes the marker and the bootstrap credentials of a host that has joined. */
export const noWindowsMarker: Step<'windows'> = {
  name: 'no-marker',
  diff: (target) => {
    const { host, facts } = target;
    const bootstrap = facts.kubernetesTraces.has('/etc/kubernetes/bootstrap-kubelet.conf');
    if ((facts.marker === 'absent' && !bootstrap) || isForeignAction(facts.marker) || standing(target) !== 'joined')
      return [];
    if (facts.marker !== 'absent' && target.fleet.cluster.state !== 'up') return [];
    const paths = [windowsPaths.marker, `${windowsPaths.kubernetes}\\bootstrap-kubelet.conf`];
    return [
      {
        summary: `remove what a finished join left (found ${facts.marker === 'absent' ? paths[1]! : paths[0]!})`,
        apply: runsOnWindows(host, powershell('windows/remove-paths.ps1', { Paths: paths })),
      },
    ];
  },
};
