import { addService } from '../machine.ts';
import { ScriptFailure, type Answer } from '../script.ts';
import { refuseMarked } from '../services.ts';

interface Given {
  readonly Name: string;
  readonly Path: string;
  readonly DependsOn: readonly string[];
  readonly Environment: readonly string[];
  readonly Parameters: readonly { readonly name: string; readonly value: string | number }[];
}

export const answer: Answer = (machine, params) => {
  const { Name, Path, DependsOn, Environment, Parameters } = params as unknown as Given;
  refuseMarked(machine, Name);
  const missing = DependsOn.find((other) => !machine.services.has(other.toLowerCase()));
  if (missing !== undefined) throw new ScriptFailure(`the service ${Name} cannot be changed: 1: no service ${missing}`);
  const service = machine.services.get(Name.toLowerCase()) ?? addService(machine, { name: Name, path: Path });
  Object.assign(service, {
    path: Path,
    startMode: 'Auto',
    dependsOn: DependsOn,
    environment: Environment,
    restarts: true,
    parameters: {
      // Values that are not nssm's stay.
      ...Object.fromEntries(Object.entries(service.parameters).filter(([name]) => !name.startsWith('App'))),
      ...Object.fromEntries(Parameters.map(({ name, value }) => [name, String(value)])),
    },
  });
  return { registered: Name };
};
