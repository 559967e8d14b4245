import { CHECK_NAMES } from '../check-names.ts';
import { sourceOf } from '../manifest-entry.ts';
import { unknownCheck } from '../messages.ts';
import { pluginManifests } from '../network-plugins/index.ts';
import { problem, repeated, type Rule } from './rule.ts';

/** An external etcd is the user's own, and whole, or kbuild's on the hosts of role etcd; never both. */
export const supportedSettings: Rule = ({ etcd, hosts }) => {
  const given = (['ca', 'cert', 'key'] as const).filter((name) => etcd[name] !== undefined);
  const member = hosts.findIndex(({ role }) => role === 'etcd');
  if (etcd.topology === 'stacked')
    return etcd.endpoints.length > 0 || given.length > 0
      ? [problem(['etcd', 'topology'], 'must be external where endpoints or certificates of an etcd are named')]
      : member === -1
        ? []
        : [problem(['hosts', member, 'role'], 'etcd runs on the control planes; set etcd.topology: external')];
  if (member !== -1)
    return etcd.endpoints.length > 0
      ? [problem(['etcd', 'endpoints'], 'are those of your own etcd; remove them, or the hosts of role etcd')]
      : given.map((name) => problem(['etcd', name], 'is made by kbuild on the hosts of role etcd; remove it'));
  if (etcd.endpoints.length === 0)
    return [
      problem(
        ['etcd', 'topology'],
        'external wants hosts of role etcd, on which kbuild builds it, or endpoints, ca, cert and key of your own',
      ),
    ];
  return (['ca', 'cert', 'key'] as const)
    .filter((name) => !given.includes(name))
    .map((name) => problem(['etcd', name], 'is required with endpoints: the file name of a PEM'));
};

/** Every registry is described once, and logs in with both halves of a login. */
export const registries: Rule = ({ runtime }) => [
  ...repeated(runtime.registries, ({ host }) => host).map(({ index, key }) =>
    problem(['runtime', 'registries', index, 'host'], `${key} is described above already; join the two`),
  ),
  ...runtime.registries.flatMap(({ username, password }, i) => {
    if ((username === undefined) === (password === undefined)) return [];
    const missing = username === undefined ? 'username' : 'password';
    return [problem(['runtime', 'registries', i, missing], 'is required: a login is username and password')];
  }),
];

/** Checks are ignored by name only, and by a name that there is. */
export const ignoredChecks: Rule = ({ ignoreChecks }) =>
  ignoreChecks.flatMap((name, i) => {
    const path = ['ignoreChecks', i];
    if (name.toLowerCase() === 'all') return [problem(path, 'there is no way to ignore all; name the checks')];
    return (CHECK_NAMES as readonly string[]).includes(name) ? [] : [problem(path, unknownCheck(name))];
  });

/** A proxy is given for something. */
export const proxyIsSet: Rule = ({ proxy }) =>
  proxy !== undefined && proxy.http === undefined && proxy.https === undefined
    ? [problem(['proxy', 'http'], 'is required: the URL of the proxy, e.g. "http://proxy.example.com:3128"')]
    : [];

/** A manifest is code that runs in the cluster: it comes from a file, or over TLS. */
export const manifestSources: Rule = (file) =>
  [{ at: ['manifests'], entries: file.manifests }, ...pluginManifests(file)].flatMap(({ at, entries }) => [
    ...entries
      .map(sourceOf)
      .flatMap((source, i) =>
        /^[a-z]+:\/\//i.test(source) && !source.startsWith('https://')
          ? [problem([...at, i], 'use https://, or a file')]
          : [],
      ),
    ...repeated(entries.map(sourceOf), (source) => source).map(({ index }) =>
      problem([...at, index], 'is named above already; remove it'),
    ),
  ]);
