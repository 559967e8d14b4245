import { HANDLERS } from '../../runtime/handlers.value.ts';
import { containerRuntime } from '../../runtime/runtimes.value.ts';
import type { Host, RegistrySettings, RuntimeSettings } from '../inventory.ts';
import { HANDLER_LABEL_VALUE, handlerLabel, type RuntimeHandler } from '../runtime-handlers.ts';
import type { InventoryFile } from '../schema/schema.ts';
import type { Gathered } from './gather.ts';
import { runtimeKeysOf } from './keys.ts';
import { hasOwnRuntimes, kindOf, runtimeFileOf } from './levels.ts';

/** A fingerprint as keys are compared: 40 upper-case digits without blanks. */
export const upperHex = (fingerprint: string): string => fingerprint.replaceAll(' ', '').toUpperCase();

function registriesOf({ runtime }: InventoryFile, gathered: Gathered): readonly RegistrySettings[] {
  return runtime.registries.map(({ host, mirrors, username }, i) => {
    const ca = gathered.registryCas[i];
    const password = gathered.registryPasswords[i];
    return {
      host,
      mirrors,
      ...(ca === undefined ? {} : { ca }),
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
    };
  });
}

/** The handlers of a runtime, in the order of their names; those that break a rule are left out. */
const handlersOf = ({ handlers }: InventoryFile['runtime']): readonly RuntimeHandler[] =>
  Object.entries(handlers)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([name, handler]): readonly RuntimeHandler[] => {
      const kind = kindOf(name, handler);
      const path = handler.path ?? (kind === undefined ? undefined : HANDLERS[kind].packaged?.path);
      if (kind === undefined || path === undefined) return [];
      const { cpu, memory } = handler.overhead;
      return [
        {
          name,
          kind,
          path,
          from: handler.path === undefined ? 'package' : 'host',
          ...(handler.config === undefined ? {} : { config: handler.config }),
          overhead: { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) },
        },
      ];
    });

/** The runtime of the file, or of a host, with everything filled in. `minor`: of Kubernetes. */
export function runtimeOf(
  file: InventoryFile,
  runtime: InventoryFile['runtime'],
  gathered: Gathered,
  minor: string,
): RuntimeSettings {
  const { name, cgroupDriver, config, repository } = runtime;
  const { version, defaults } = containerRuntime({ runtime });
  const placeOf = ({ url, suite, component, fingerprint }: typeof defaults.repository.rpm) => ({
    url: url.replaceAll('{minor}', minor),
    ...(url.includes('{minor}') ? { urlOfMinor: url } : {}),
    ...(suite === '/' ? {} : { suite, component }),
    fingerprint: upperHex(fingerprint),
  });
  const places = runtimeKeysOf(file, runtime);
  return {
    name,
    version: runtime.version ?? version(minor)!,
    versionFrom: runtime.version === undefined ? 'default' : 'inventory',
    cgroupDriver,
    package: runtime.package ?? defaults.package,
    repository: {
      ...placeOf({ ...defaults.repository, ...repository }),
      key: gathered.runtimeKeys.get(places.deb)!,
      rpm: {
        ...placeOf({ ...defaults.repository.rpm, ...repository.rpm }),
        key: gathered.runtimeKeys.get(places.rpm)!,
      },
    },
    config,
    selinux: runtime.selinux ?? false,
    handlers: handlersOf(runtime),
    registries: registriesOf(file, gathered),
  };
}

/**
 * The nodes with a label for each handler that they have, by which RuntimeClasses find them. `shared`: of hosts without
 * their own.
 */
export const withHandlerLabels = (hosts: readonly Host[], shared: RuntimeSettings): readonly Host[] =>
  hosts.map((host) => {
    if (host.os === 'windows' || (host.role !== 'worker' && host.role !== 'control-plane')) return host;
    const { handlers } = host.runtime ?? shared;
    if (handlers.length === 0) return host;
    const own = Object.fromEntries(handlers.map(({ name }) => [handlerLabel(name), HANDLER_LABEL_VALUE]));
    return { ...host, labels: { ...host.labels, ...own } };
  });

/** The Linux hosts with their runtimes, if some level names one; equal ones are one object. */
export function withRuntimes(
  file: InventoryFile,
  hosts: readonly Host[],
  resolve: (runtime: InventoryFile['runtime']) => RuntimeSettings,
): readonly Host[] {
  if (!hasOwnRuntimes(file)) return hosts;
  const known = new Map<string, RuntimeSettings>();
  return hosts.map((host, i) => {
    if (host.os === 'windows') return host;
    const own = runtimeFileOf(file, file.hosts[i]!);
    const word = JSON.stringify(own);
    const runtime = known.get(word) ?? resolve(own);
    known.set(word, runtime);
    return { ...host, runtime };
  });
}
