import type { Inventory, RegistrySettings } from '../model/inventory.ts';
import { madeOf, type Secret } from '../shell/secret.ts';

/** The host of a registry's API. Docker Hub's differs from the name in its images. */
export const registryServer = (registry: string): string =>
  registry === 'docker.io' ? 'registry-1.docker.io' : registry;

/** The inventory's settings of a registry; if it has none, those of all others (`_default`). */
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

/** An image's full name as the runtime lists it: `nginx` is `docker.io/library/nginx:latest`. */
export function fullName(image: string): string {
  const [first = '', ...rest] = image.split('/');
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const named = hasRegistry ? image : `docker.io/${rest.length === 0 ? 'library/' : ''}${image}`;
  return /[:@]/.test(named.slice(named.lastIndexOf('/'))) ? named : `${named}:latest`;
}
