import type { Machine, Service } from './machine.ts';
import { ScriptFailure, type HostControl } from './script.ts';

/** What starts and stops the programs of services. */
type Control = Pick<HostControl, 'startService' | 'stopService'>;

const serviceOf = (machine: Machine, name: string): Service => {
  const found = machine.services.get(name.toLowerCase());
  if (found === undefined) throw new ScriptFailure(`Cannot find any service with service name '${name}'.`);
  return found;
};

/** Wait-ServiceState of common.ps1: a service whose state changes takes no order. */
export function settled(machine: Machine, name: string): Service {
  const service = serviceOf(machine, name);
  if (!service.state.endsWith('Pending')) return service;
  if (service.becomes === undefined)
    throw new ScriptFailure(
      `the service ${name} is ${service.state} for more than 60 s: end its process, or restart the host`,
    );
  service.state = service.becomes;
  return service;
}

/** Services that depend on one, and do not stand still. */
export const activeDependents = (machine: Machine, name: string): readonly string[] =>
  [...machine.services.values()]
    .filter(
      ({ dependsOn, state }) =>
        state !== 'Stopped' && dependsOn.some((other) => other.toLowerCase() === name.toLowerCase()),
    )
    .map((service) => service.name);

/** Stop-ServiceInTime of common.ps1. Windows stops with a service those that depend on it, and starts none of them again. */
export async function stopInTime(machine: Machine, control: Control, name: string): Promise<void> {
  if (settled(machine, name).state === 'Stopped') return;
  for (const dependent of activeDependents(machine, name)) await stopInTime(machine, control, dependent);
  await control.stopService(name);
}

/** Start-ServiceInTime of common.ps1: Windows takes a paused service for one that runs already. */
export async function startInTime(machine: Machine, control: Control, name: string): Promise<void> {
  const { state } = settled(machine, name);
  if (state === 'Running') return;
  if (state !== 'Stopped') await stopInTime(machine, control, name);
  await control.startService(name);
}

/** Restart-ServiceInTime of common.ps1. */
export async function restartInTime(machine: Machine, control: Control, name: string): Promise<void> {
  const stopped = activeDependents(machine, name);
  await stopInTime(machine, control, name);
  for (const one of [name, ...stopped]) await startInTime(machine, control, one);
}

/** Assert-NotMarkedForDeletion of common.ps1. */
export function refuseMarked(machine: Machine, name: string): void {
  if (machine.services.get(name.toLowerCase())?.isMarked === true)
    throw new ScriptFailure(
      `the service ${name} is marked for deletion (1072): close what shows services on this host`,
    );
}
