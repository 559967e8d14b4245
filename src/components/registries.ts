import type { Inventory, RegistrySettings } from '../model/inventory.ts';
import { madeOf, type Secret } from '../shell/secret.ts';

/** Docker Hub's API is at another name than its images'. */
export const registryServer = (registry: string): string =>
  registry === 'docker.io' ? 'registry-1.docker.io' : registry;

/** What the inventory says of a registry; where it has nothing about it, what it says of all others (`_default`). */
export const registrySettings = (
  { registries }: Pick<Inventory['runtime'], 'registries'>,
  registry: string,
): RegistrySettings | undefined =>
  registries.find(({ host }) => host === registry) ?? registries.find(({ host }) => host === '_default');

/** The value of the header `Authorization` for the inventory's login to a registry; undefined without a login. */
export const loginOf = ({ username, password }: RegistrySettings): Secret | undefined =>
  username === undefined || password === undefined
    ? undefined
    : madeOf(password, (value) => `Basic ${Buffer.from(`${username}:${value}`).toString('base64')}`);
