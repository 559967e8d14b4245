import { filesOf } from '../machine.ts';
import { ScriptFailure, type Answer } from '../script.ts';
import { stopInTime } from '../services.ts';

/** `world.kubeadm`: joins for real; resolves to the files that a join leaves, by path. Rejects with kubeadm's last words. */
export type JoinWorld = (config: string, signal: AbortSignal) => Promise<Readonly<Record<string, string>>>;

export const answer: Answer = async (machine, params, { host, workingFolder, signal, account }) => {
  const { Action, Program, Cluster, Marker } = params as Record<string, string>;
  const { Services, Paths } = params as unknown as Record<'Services' | 'Paths', readonly string[]>;
  const files = filesOf(machine);
  if (account !== 'SYSTEM' || workingFolder === undefined) throw new ScriptFailure('kubeadm runs as a job');
  const config = files.text(`${workingFolder}\\config.yaml`);
  if (config === undefined) throw new ScriptFailure('config.yaml: The system cannot find the file specified.');
  const mark = (stage: string): void =>
    files.put(Marker!, JSON.stringify({ cluster: Cluster, action: Action, job: 'kubeadm', stage }));
  mark('begun');
  if (Action === 'join') {
    if (files.text(Program!) === undefined) throw new ScriptFailure(`The term '${Program!}' is not recognized.`);
    if (machine.services.get('containerd')?.state !== 'Running')
      throw new ScriptFailure('[ERROR CRI]: could not connect to the container runtime');
    if (files.exists('C:\\etc\\kubernetes\\kubelet.conf'))
      throw new ScriptFailure(
        '[ERROR FileAvailable--etc-kubernetes-kubelet.conf]: /etc/kubernetes/kubelet.conf already exists',
      );
    const join = host.world['kubeadm'] as JoinWorld;
    let left: Readonly<Record<string, string>>;
    try {
      left = await join(config, signal);
    } catch (error) {
      // What kubeadm does first it leaves behind.
      files.put('C:\\etc\\kubernetes\\bootstrap-kubelet.conf', 'half');
      throw new ScriptFailure((error as Error).message);
    }
    for (const [path, text] of Object.entries(left)) files.put(path, text);
    await host.startService('kubelet');
    mark('done');
  } else if (Action === 'upgrade') {
    if (files.text(Program!) === undefined) throw new ScriptFailure(`The term '${Program!}' is not recognized.`);
    if (!files.exists('C:\\etc\\kubernetes\\kubelet.conf'))
      throw new ScriptFailure('couldn\'t create a Kubernetes client from file "C:\\etc\\kubernetes\\kubelet.conf"');
    (host.world['upgrades'] as string[] | undefined)?.push(config);
  } else {
    for (const service of Services.filter((one) => machine.services.has(one.toLowerCase())))
      await stopInTime(machine, host, service);
    for (const path of Paths) files.removeTree(path);
  }
  files.remove(Marker!);
  return { output: [`kubeadm ${Action!} is done`] };
};
