import { expect, test } from 'vitest';
import { downloads, readDownloads, type Wanted } from '../../../src/host/packages/downloads.survey.ts';
import { readConnects, readMtus } from '../../../src/host/ports.survey.ts';
import { w1 } from '../../fakes/cluster.ts';

test('reads why a connection failed from the output of bash', () => {
  const out = `10.0.0.1 6443 0 
10.0.0.2 6443 124 
10.0.0.3 6443 1 bash: connect: Connection refused bash: line 1: /dev/tcp/10.0.0.3/6443: Connection refused 
10.0.0.4 6443 1 bash: connect: No route to host 
`;
  expect([...readConnects(out).values()]).toEqual(['open', 'no answer within 10 s', 'refused', 'no route']);
});

test('reads the MTU of sent packets, and a smaller one that a router reported', () => {
  const out = 'mtu 10.0.0.1 1500 \n10.0.0.1 6443 0 \nmtu 10.0.0.2 9000 1400\nmtu 10.0.0.3 1500 1500\n';
  expect([...readMtus(out).values()]).toEqual([{ mtu: 1500 }, { mtu: 9000, reported: 1400 }, { mtu: 1500 }]);
});

test('a download works if one of its URLs has it', () => {
  const wanted: readonly Wanted[] = [
    { kind: 'repository', what: 'the repository', urls: ['http://a/InRelease', 'http://a/Release'] },
    { kind: 'packages', what: 'Kubernetes 1.36.3', urls: ['http://a/Packages'], word: '1.36.3-' },
    { kind: 'image', what: 'x/y:1', urls: ['http://m/v2/y/manifests/1', 'https://x/v2/y/manifests/1'] },
    { kind: 'key', what: 'the key', urls: ['http://a/key'], word: 'AB' },
  ];
  const out = `repository http://a/InRelease missing
repository http://a/Release there
packages http://a/Packages versionless
image http://m/v2/y/manifests/1 missing
image https://x/v2/y/manifests/1 failed curl: (6) Could not resolve host: x
key http://a/key there bm8ga2V5
`;
  const told = readDownloads(wanted, out).map(
    ({ wanted: { what }, faults }) =>
      `${what}: ${faults.map(({ url, kind, why }) => `${url}: ${kind}: ${why}`).join('; ')}`,
  );
  expect(told).toEqual([
    'Kubernetes 1.36.3: http://a/Packages: wrong: has no version 1.36.3-',
    'x/y:1: http://m/v2/y/manifests/1: missing: is not there (404); https://x/v2/y/manifests/1: silent: curl: (6) Could not resolve host: x',
    expect.stringMatching(/^the key: http:\/\/a\/key: wrong: is/),
  ]);
  expect(readDownloads(wanted.slice(0, 1), '')).toHaveLength(1);
});

test('a server that answers with an error is distinguished from a server that does not answer', () => {
  const kinds = (text: string): string => {
    const wanted: Wanted = { kind: 'image', what: 'x/y:1', urls: ['http://m/v2/y/manifests/1'] };
    const [one] = readDownloads([wanted], `image ${wanted.urls[0]!} failed ${text}\n`);
    return one!.faults.map(({ kind, why }) => `${kind}: ${why}`).join();
  };
  expect(kinds('status 500')).toBe('failed: answers with status 500');
  // apt-helper, where there is no curl.
  expect(kinds('Failed to fetch http://m/v2/y  503  Service Unavailable [IP: 10.0.0.1 80]')).toBe(
    'failed: answers with status 503',
  );
  expect(kinds('curl: (7) Failed to connect to m port 443 after 0 ms: Connection refused')).toBe(
    'silent: curl: (7) Failed to connect to m port 443 after 0 ms: Connection refused',
  );
});

test('no login is written to a host with an unsupported distribution', async () => {
  const facts = {
    arch: 'x86_64',
    osRelease: { id: 'gentoo', idLike: [], versionId: '1', codename: '', prettyName: 'Gentoo' },
  };
  const wanted: readonly Wanted[] = [{ kind: 'image', what: 'x', urls: ['https://x/v2/'], registry: { host: 'x' } }];
  const commands: string[] = [];
  const remote = {
    run: (command: { readonly script: string }) => Promise.resolve((commands.push(command.script), '')),
    write: (path: string) => Promise.resolve(void commands.push(path)),
    hold: () => Promise.reject(new Error('not used')),
  };
  const [result] = await downloads(() => remote, [{ host: w1, facts, wanted }], undefined);
  expect(result).toMatchObject({ failed: expect.stringContaining('Gentoo is not yet supported') as string });
  expect(commands).toEqual([]);
});
