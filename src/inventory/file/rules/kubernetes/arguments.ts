import { flagProblem, flagValueProblem, gateProblems, isSingle } from '../../../../kubeadm/flags.value.ts';
import { flagsOf, gatesOf, knownVersion } from '../../../../kubeadm/tables.value.ts';
import { compareVersions } from '../../../../versions.ts';
import { problem, repeated, type Rule, type Violation, warning } from '../../../schema/rule.ts';
import type { InventoryFile } from '../../../schema/schema.ts';
import { ownedFlag } from './owned-flags.ts';
import { argumentPlaces, type WrittenArguments } from './places.ts';
import { gatePlaces } from './types.ts';

/**
 * A patch release can bring a gate or a flag, as fixes of 1.30 to 1.32 did: what is unknown in a version that is newer
 * than the tables' is a warning. What another version is known to have had is not.
 */
const unsure = (version: string): boolean => compareVersions(version, knownVersion(version).source) > 0;

function argumentViolations(
  { component, path, items }: WrittenArguments,
  { kubernetes: { version }, network }: InventoryFile,
): readonly Violation[] {
  const { minor } = knownVersion(version);
  const { names, elsewhere } = flagsOf(component, minor);
  const severityOf = (name: string) =>
    unsure(version) && !names.includes(name) && elsewhere(name) === undefined ? warning : problem;
  return items.flatMap(({ name, value, index }): readonly Violation[] => {
    const at = (field: string) => [...path, index, field];
    const owned = ownedFlag(component, { name: name.replace(/^-+/, ''), value }, network.plugin === 'none');
    if (owned !== undefined) return [problem(at('name'), owned)];
    const unknown = flagProblem(component, name, minor);
    if (unknown !== undefined) return [(name.startsWith('-') ? problem : severityOf(name))(at('name'), unknown)];
    const wrong = typeof value === 'string' ? flagValueProblem(component, name, value, minor) : undefined;
    return wrong === undefined ? [] : [(unsure(version) ? warning : problem)(at('value'), wrong)];
  });
}

/** A component has the flags that it is given, can read their values, and has each single one once. */
export const typedArguments: Rule = (file) => {
  const { version } = file.kubernetes;
  return argumentPlaces(file).flatMap((place) => [
    ...argumentViolations(place, file),
    ...repeated(place.items, ({ name }) => name)
      .filter(({ key }) => isSingle(place.component, key, knownVersion(version).minor))
      .map(({ index, key }) =>
        problem(
          [...place.path, place.items[index]!.index, 'name'],
          `--${key} is given above already, and only the last one would count; keep one of the two`,
        ),
      ),
  ]);
};

/** Feature gates exist, and can be set to what they are set to. */
export const featureGates: Rule = (file) => {
  const { version } = file.kubernetes;
  return gatePlaces(file).flatMap(([path, set, gates]) => {
    const { minor } = knownVersion(version);
    const { names, elsewhere } = gatesOf(set, minor);
    return gateProblems(gates, set, minor).map(({ keys, message }) => {
      const name = String(keys[0]);
      const isSure = !unsure(version) || names.includes(name) || elsewhere(name) !== undefined;
      return (isSure ? problem : warning)([...path, name], message);
    });
  });
};
