/** Simulated Windows hosts in the lab whose programs are real, under wine. */
import { realAnswers } from '../windows/wine/answers.ts';
import { realHost, type RealHost } from '../windows/wine/host.ts';
import { realKubelet, type KubeletStart } from '../windows/wine/kubelet.ts';
import type { Machine } from '../windows/host/machine.ts';
import type { SimulatedWindowsHost } from '../windows/host/server.ts';
import { kubeletProgram } from '../windows/kubelet/program.ts';
import type { WindowsLabHost } from './windows.ts';
import { windowsLabHost } from './windows.ts';
import type { WindowsPrograms, WindowsProgram } from './windows-programs.ts';

/** Such a host, with what its programs did. */
export interface WineLabHost {
  readonly host: SimulatedWindowsHost;
  readonly real: RealHost;
  readonly kubeletStarts: readonly KubeletStart[];
  readonly close: () => Promise<void>;
}

/** As windowsLabHost, with these programs in place of the model's. */
export async function wineLabHost(
  name: string,
  about: WindowsLabHost,
  made: WindowsPrograms,
  names: readonly WindowsProgram[],
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
  return {
    host,
    real: of(host.machine),
    kubeletStarts,
    async close() {
      await host.close();
      await of(host.machine).close();
    },
  };
}
