/** Simulated Windows hosts in the lab whose programs are real, under wine. */
import { realAnswers } from '../windows/wine/answers.ts';
import { realHost, type RealHost } from '../windows/wine/host.ts';
import { realKubelet, type KubeletStart } from '../windows/wine/kubelet.ts';
import type { Machine } from '../windows/host/machine.ts';
import type { SimulatedWindowsHost } from '../windows/host/server.ts';
import { kubeletProgram } from '../windows/kubelet/program.ts';
import { withLock } from './flock.ts';
import type { LabInventory } from './inventory.ts';
import type { WindowsLabHost } from './windows.ts';
import { windowsLabHost } from './windows.ts';
import type { WindowsPrograms, WindowsProgram } from './windows-programs.ts';

/**
 * The inventory with more time for kubeadm.exe than kubeadm's defaults of 4 and 5 min: under wine the kubelet starts again and
 * again until both are through, and the machine may be busy.
 */
export function patient(inventory: LabInventory): LabInventory {
  const kubeadm = inventory['kubeadm'] as { readonly join: object };
  const timeouts = { kubeletHealthCheck: '15m0s', tlsBootstrap: '15m0s' };
  return { ...inventory, kubeadm: { ...kubeadm, join: { ...kubeadm.join, timeouts } } };
}

/** Such a host, with what its programs did. */
export interface WineLabHost {
  readonly host: SimulatedWindowsHost;
  readonly real: RealHost;
  readonly kubeletStarts: readonly KubeletStart[];
  /** The command lines that named a program, from its name on. */
  readonly linesOf: (program: string) => readonly string[];
  /** What ran under wine, and how long. */
  readonly summary: () => string;
  readonly close: () => Promise<void>;
}

/**
 * Waits until no other process runs such a host, and keeps others waiting. Programs under wine share this machine's network, and
 * the kubelet's ports are fixed.
 */
async function onlyOne(): Promise<() => void> {
  let release!: () => void;
  const released = new Promise<void>((done) => (release = done));
  await new Promise<void>((held, failed) => {
    const holding = withLock('wine', () => {
      held();
      return released;
    });
    holding.catch(failed);
  });
  return release;
}

/** As windowsLabHost, with these programs in place of the model's. Waits while another one is there. */
export async function wineLabHost(
  name: string,
  about: WindowsLabHost,
  made: WindowsPrograms,
  names: readonly WindowsProgram[],
): Promise<WineLabHost> {
  const release = await onlyOne();
  try {
    return await withPrograms(name, about, made, names, release);
  } catch (error) {
    release();
    throw error;
  }
}

async function withPrograms(
  name: string,
  about: WindowsLabHost,
  made: WindowsPrograms,
  names: readonly WindowsProgram[],
  release: () => void,
): Promise<WineLabHost> {
  const hosts = new Map<Machine, RealHost>();
  const programs = new Map(names.map((one) => [one, made.path(one)]));
  const of = (machine: Machine): RealHost => {
    const found = hosts.get(machine) ?? realHost(machine, { prefix: made.prefix, programs });
    hosts.set(machine, found);
    return found;
  };
  const kubeletStarts: KubeletStart[] = [];
  const host = await windowsLabHost(name, {
    ...about,
    answers: (model) => realAnswers(model, of),
    programs: { kubelet: realKubelet(of, kubeletProgram(about), kubeletStarts), ...about.programs },
  });
  const real = of(host.machine);
  return {
    host,
    real,
    kubeletStarts,
    linesOf: (program) =>
      real.ran.filter(({ line }) => line.includes(program)).map(({ line }) => line.slice(line.indexOf(program))),
    summary() {
      const seconds = real.ran.reduce((sum, one) => sum + one.seconds, 0);
      return `${host.machine.name}: ${String(real.ran.length)} runs of programs under wine took ${seconds.toFixed(0)} s, and ${String(kubeletStarts.length)} starts of the kubelet`;
    },
    async close() {
      try {
        await host.close();
      } finally {
        await real.close();
        release();
      }
    },
  };
}
