import { createHash } from 'node:crypto';

/** What is at an address; undefined: nothing. */
export type Internet = (url: string) => Buffer | undefined;

/** A program as the simulation has it: what it says of its version, and an end that a truncated one lacks. */
export const programText = (says: string): string => `MZ ${says}\nEND`;

/** Whether a file is such a program, to its end. */
export const isWholeProgram = (content: Buffer): boolean =>
  content.length < 4096 && /^MZ .*\nEND$/.test(content.toString('latin1'));

const versionIn = (url: string): string => /v(\d+\.\d+\.\d+)/.exec(url)?.[1] ?? '0.0.0';

/** An archive as the simulation has it. */
const archive = (files: Readonly<Record<string, string>>): Buffer => Buffer.from(JSON.stringify(files));

function file(url: string): Buffer | undefined {
  const name = url.slice(url.lastIndexOf('/') + 1);
  const version = versionIn(url);
  if (name === 'kubeadm.exe') return Buffer.from(programText(`v${version}`));
  if (/^(?:kubelet|kube-proxy)\.exe$/.test(name)) return Buffer.from(programText(`Kubernetes v${version}`));
  if (name.endsWith('.exe')) return Buffer.from(programText(`usage of ${name}`));
  if (name.startsWith('containerd-')) {
    const says = programText(
      `containerd github.com/containerd/containerd/v2 v${/(\d+\.\d+\.\d+)/.exec(name)?.[1] ?? version} 0000`,
    );
    return archive({ 'bin/containerd.exe': says, 'bin/ctr.exe': says, 'bin/containerd-shim-runhcs-v1.exe': says });
  }
  if (name.startsWith('crictl-')) return archive({ 'crictl.exe': programText(`crictl version v${version}`) });
  return undefined;
}

/** The releases of Kubernetes, containerd and cri-tools, each with its checksum beside it. */
export const releases: Internet = (url) => {
  const sum = /^(.*)\.sha256(?:sum)?$/.exec(url);
  if (sum === null) return file(url);
  const content = file(sum[1]!);
  return content === undefined ? undefined : Buffer.from(createHash('sha256').update(content).digest('hex'));
};
