import { describe, expect, test } from 'vitest';
import { problemsOf } from './load.ts';

const GOOD = `name: prod
kubernetes: { version: "1.36.3" }
hosts:
  - { name: cp1, address: 203.0.113.11, internalAddress: 10.0.0.11, role: control-plane }
  - { name: win1, address: 203.0.113.21, internalAddress: 10.0.0.21, role: worker, os: windows }
`;
const SUM = 'ab'.repeat(32);
const WHY = 'over plain http another machine on the way can replace programs that run as root; use https://, or name';
const MIRROR = 'http://mirror.example.com/{version}/{arch}/{name}';

/** The problems of the inventory with one line more. */
const problems = (line: string): Promise<readonly string[]> =>
  problemsOf(`${line}\n${GOOD}`, {}, { env: { PASSWORD: 'secret' } });

/** `sha256:` of downloads with a hash of each of these URLs. */
const pins = (...urls: readonly string[]): string => `sha256: { ${urls.map((url) => `"${url}": ${SUM}`).join(', ')} }`;
const kubernetes = (version: string, ...names: readonly string[]): readonly string[] =>
  names.map((name) => `http://mirror.example.com/${version}/arm64/${name}`);

describe('programs that come over plain http', () => {
  test('are refused at their line if the inventory does not name their SHA-256', async () => {
    expect(await problems(`downloads: { kubernetes: { url: "${MIRROR}" } }`)).toEqual([
      `1:33 downloads.kubernetes.url: ${WHY} the SHA-256 of each file below downloads.sha256, or set downloads.kubernetes.signatures: required`,
    ]);
    for (const name of ['containerd', 'runc', 'cniPlugins', 'crictl', 'criDockerd'])
      expect(await problems(`downloads: { ${name}: { url: "http://m.example/{version}.{arch}" } }`)).toEqual([
        expect.stringMatching(new RegExp(`^1:\\d+ downloads\\.${name}\\.url: over plain http .* downloads\\.sha256$`)),
      ]);
  });

  test('are refused if the SHA-256 of one of them, or of this version, is missing', async () => {
    const refused = async (...urls: readonly string[]) =>
      (await problems(`downloads: { kubernetes: { url: "${MIRROR}" }, ${pins(...urls)} }`)).length;
    expect(await refused(...kubernetes('1.36.3', 'kubeadm', 'kubelet'))).toBe(1);
    expect(await refused(...kubernetes('1.36.2', 'kubeadm', 'kubelet', 'kubectl'))).toBe(1);
    expect(await refused(...kubernetes('1.36.3', 'kubeadm', 'kubelet', 'kubectl'))).toBe(0);
  });

  test('are good with required signatures, and those of other projects with a SHA-256', async () => {
    expect(await problems(`downloads: { kubernetes: { url: "${MIRROR}", signatures: required } }`)).toEqual([]);
    const pinned = pins('http://m.example/runc-1.4.2.amd64');
    expect(await problems(`downloads: { runc: { url: "http://m.example/runc-{version}.{arch}" }, ${pinned} }`)).toEqual(
      [],
    );
  });

  test('of a Windows host are refused in the same way', async () => {
    const from = 'kubernetes: "http://m.example/{version}"';
    const refused = `${WHY} the SHA-256 of each file below windows.downloads.sha256`;
    expect(await problems(`windows: { downloads: { ${from} } }`)).toEqual([
      `1:37 windows.downloads.kubernetes: ${refused}`,
    ]);
    const sha256 = `sha256: { kubelet.exe: ${SUM}, kubeadm.exe: ${SUM} }`;
    expect(await problems(`windows: { downloads: { ${from}, ${sha256} } }`)).toEqual([]);
    const own = GOOD.replace('os: windows', 'os: windows, windows: { downloads: { crictl: "http://m.example" } }');
    expect(await problemsOf(own)).toEqual([
      expect.stringContaining(` hosts[1].windows.downloads.crictl: ${refused}`) as string,
    ]);
  });
});

describe('a login to a registry', () => {
  const registry = (mirrors: string, login = 'username: u, password: "env:PASSWORD"'): string =>
    `runtime: { registries: [{ host: docker.io, mirrors: [${mirrors}]${login === '' ? '' : `, ${login}`} }] }`;

  test('goes to no mirror over plain http', async () => {
    expect(await problems(registry('"https://a.example.com", "http://b.example.com"'))).toEqual([
      expect.stringMatching(
        /^1:\d+ runtime\.registries\[0\]\.mirrors\[1\]: the login would go over plain http/,
      ) as string,
    ]);
  });

  test('goes to mirrors over https, and without a login plain http is good', async () => {
    expect(await problems(registry('"https://a.example.com"'))).toEqual([]);
    expect(await problems(registry('"http://b.example.com"', ''))).toEqual([]);
  });
});
