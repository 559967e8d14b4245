import type { Surveys } from '../../cluster/fleet/fleet.ts';
import type { Check, CheckGroup, Finding } from '../../engine/check.ts';
import type { Fault, NotThere } from './downloads.survey.ts';

/** Images that a message names; of more it gives the number. */
const NAMED = 3;

const isOfRegistry = ({ wanted: { kind } }: NotThere): boolean => kind === 'image' || kind === 'tags';

/** True where a server could not answer, or nothing answered: it would be the same for every image of its registry. */
const isOfServer = ({ kind }: Fault): boolean => kind === 'failed' || kind === 'silent' || kind === 'refused';

const originOf = (url: string): string => /^[a-z]+:\/\/[^/]+/.exec(url)?.[0] ?? url;

/** The faults of the servers of a registry, without the paths of single images. */
const serversText = (faults: readonly Fault[]): string =>
  faults.map(({ url, why }) => `${originOf(url)}: ${why}`).join('; ');

/** What to do, by what answered: the way of the host is checked only where nothing did. */
function remedyOf(faults: readonly Fault[]): string {
  const failing = [...new Set(faults.filter(({ kind }) => kind === 'failed').map(({ url }) => originOf(url)))];
  if (failing.length > 0)
    return `mend ${failing.join(', ')}, whose own log says why, or name another mirror in runtime.registries`;
  if (faults.some(({ kind }) => kind === 'refused'))
    return 'correct username and password of the registry (runtime.registries)';
  if (faults.some(({ kind }) => kind === 'foreign'))
    return (
      'copy the image for all architectures (crane copy, skopeo copy --all), not what one machine has pulled; or ' +
      'leave hosts of this architecture out of the inventory'
    );
  if (faults.some(({ kind }) => kind === 'missing'))
    return 'put it there, or correct version, repository or mirrors in the inventory';
  if (faults.some(({ kind }) => kind === 'wrong'))
    return 'correct version, repository, key or fingerprint in the inventory';
  return 'nothing answered: check name resolution, routes, proxy and mirrors of the host';
}

const severityOf = (all: readonly NotThere[]): 'error' | 'warning' =>
  all.every(({ wanted: { kind } }) => kind === 'tags') ? 'warning' : 'error';

function single(host: string, one: NotThere): Finding {
  const { what, kind } = one.wanted;
  const why = one.faults.map((fault) => `${fault.url}: ${fault.why}`).join('; ');
  return {
    severity: severityOf([one]),
    host,
    message: kind === 'tags' ? `found no tags of ${what}: ${why}` : `cannot get ${what}: ${why}`,
    remedy: remedyOf(one.faults),
  };
}

/** One finding for a registry whose servers fail, however many images are wanted of it. */
function ofRegistry(host: string, all: readonly NotThere[]): Finding {
  const [first] = all;
  if (all.length === 1) return single(host, first!);
  const names = all.map(({ wanted: { what } }) => what);
  const shown = names.slice(0, NAMED).join(', ');
  const more = names.length > NAMED ? ` and ${String(names.length - NAMED)} more` : '';
  return {
    severity: severityOf(all),
    host,
    message: `cannot get ${String(all.length)} images (${shown}${more}): ${serversText(first!.faults)}`,
    remedy: remedyOf(first!.faults),
  };
}

function findingsOf(host: string, found: readonly NotThere[]): readonly Finding[] {
  const isShared = (one: NotThere): boolean => isOfRegistry(one) && one.faults.every(isOfServer);
  const registries = new Map<string, NotThere[]>();
  for (const one of found.filter(isShared)) {
    const key = serversText(one.faults);
    registries.set(key, [...(registries.get(key) ?? []), one]);
  }
  return [
    ...found.filter((one) => !isShared(one)).map((one) => single(host, one)),
    ...[...registries.values()].map((all) => ofRegistry(host, all)),
  ];
}

/** What hosts cannot download, as findings: those of one registry together. */
export const downloadFindings = (surveyed: Surveys['downloads']): readonly Finding[] =>
  surveyed.flatMap((one): readonly Finding[] => {
    const host = one.host.name;
    if ('failed' in one) return [{ severity: 'unknown', host, message: `could not ask for downloads: ${one.failed}` }];
    if ('skipped' in one) return [{ severity: 'due', host, message: one.skipped }];
    return findingsOf(host, one.found);
  });

export const downloads: Check = {
  name: 'downloads',
  title: 'repositories, signing keys, the version and every image, for its architecture, can be had from each host',
  why:
    'A survey: each host asks for the lists and keys of the package repositories and for the manifest of every ' +
    'image, through mirrors and proxy, with logins and authorities as the inventory has them. A registry that ' +
    'fails is one finding with its status, however many images are wanted of it. Of etcd and CoreDNS only the ' +
    'name is asked for: kubeadm knows their tags and is not installed yet, and some mirrors do not list tags, so ' +
    'that this is a warning. An image must be there for the architecture of the host: a registry that was filled ' +
    'with `docker push` from one machine has it for one architecture only. That is read from the index of the ' +
    'image, or from its configuration, and nothing is pulled; a registry that wants a token first (Docker Hub, ' +
    'ghcr.io) does not say. On hosts without curl a registry only has to answer, and one with a login or a ' +
    'private authority is not asked.',
  severities: ['error', 'warning', 'due'],
  test: ({ fleet: { surveys } }) => downloadFindings(surveys?.downloads ?? []),
};

export const downloadChecks: CheckGroup = { survey: [downloads] };
