import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { REPORT_BEGINS, reportPage } from '../../../src/report/page/page.ts';
import { readRecord } from '../../../src/report/record/read.ts';
import { FAILED_RUN, recordedHost, recordHeadOf, recordText, type At } from '../../fakes/record.ts';

const small = reportPage(readRecord(recordText(FAILED_RUN), 'record'));

describe('the page of a report', () => {
  test('begins as kbuild recognizes its own reports, and says the result in its title', () => {
    expect(small.startsWith(REPORT_BEGINS)).toBe(true);
    expect(small).toContain('<title>kbuild up: demo, after 1 min 24 s: 4 changes on 3 hosts; w2 failed</title>');
  });

  test('allows its own style and script, and nothing else', () => {
    const hash = (text: string): string => `&#39;sha256-${createHash('sha256').update(text).digest('base64')}&#39;`;
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(small)!;
    const [, script = ''] = /<script>(.*?)<\/script>/s.exec(small)!;
    const [, policy = ''] = /Content-Security-Policy" content="([^"]*)"/.exec(small)!;
    expect(policy).toContain('default-src &#39;none&#39;');
    expect(policy).toContain(`style-src ${hash(style)}`);
    expect(policy).toContain(`script-src ${hash(script)}`);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(small.match(/<script/g)).toHaveLength(1);
    expect(small.match(/<style/g)).toHaveLength(1);
  });

  test('refers to nothing outside of itself', () => {
    expect(small).not.toMatch(/\s(?:src|srcset|data|action|poster)=|\sstyle=|\son[a-z]+=|url\(|@import|@font-face/i);
    expect([...small.matchAll(/href="([^"]*)"/g)].filter(([, to]) => !to!.startsWith('#'))).toEqual([]);
  });

  test('shows hostile text of hosts as text', () => {
    const hostile = `</script></style><img src=x onerror=alert(1)>"'\u202e\u0000\u001b[2J`;
    const place = { phase: hostile, host: hostile, step: hostile };
    const lines: readonly At[] = [
      [0, { kind: 'phase-started', phase: hostile, title: hostile, hosts: [hostile] }],
      [1, { kind: 'host-started', phase: hostile, host: hostile }],
      [2, { kind: 'changing', ...place, summary: hostile }],
      [3, { kind: 'failed', ...place, summary: hostile, exitCode: 4 }],
      [4, { kind: 'failure', host: hostile, message: hostile, cause: hostile, remedy: `\`${hostile}\``, lastWords: `== ${hostile}\n${hostile}\n`, exitCode: 4 }], // prettier-ignore
      [5, { kind: 'noted', host: hostile, summary: hostile }],
      [6, { kind: 'left-out', host: hostile, message: hostile }],
      [7, { kind: 'cluster-observed', state: 'down', reason: hostile, version: hostile, endpointAnswer: hostile, nodes: [], apiServers: [], etcd: { topology: 'stacked', leader: hostile, members: [], alarms: [hostile] }, addressHolders: [] }], // prettier-ignore
      [8, { kind: 'certificates-observed', certificates: [{ host: hostile, name: hostile, expires: '2027-01-01T00:00:00Z', renewedBy: hostile }], unknown: [{ host: hostile, message: hostile }] }], // prettier-ignore
      [9, { kind: 'ports-surveyed', ways: [{ to: hostile, port: 1, protocol: 'tcp', program: hostile, from: [hostile] }], blocked: [{ from: hostile, to: hostile, port: 1, protocol: 'tcp', program: hostile, how: hostile }], narrow: [], unverified: [], failed: [{ host: hostile, reason: hostile }] }], // prettier-ignore
    ];
    const hosts = [
      recordedHost('cp1'),
      recordedHost('w1', { name: hostile, address: hostile, internalAddress: hostile }),
    ];
    const head = recordHeadOf({
      hosts,
      cluster: hostile,
      run: hostile,
      command: hostile,
      endpoint: hostile,
      kbuild: hostile,
    });
    const page = reportPage(readRecord(recordText(lines, head), 'record'));
    expect(page).not.toMatch(/<img|\u202e|\u0000|\u001b/);
    expect(page.match(/<\/script/g)).toHaveLength(1);
    expect(page.match(/<\/style/g)).toHaveLength(1);
    expect(page.match(/&lt;\/script&gt;/g)!.length).toBeGreaterThan(20);
  });

  test('of a record that is nothing but its first line is a page', () => {
    const page = reportPage(readRecord(recordText([]), 'record'));
    expect(page).toContain('the record ends after 0.0 s without a result: nothing was changed');
  });

  test('says first what failed in a sentence, why, what to do and what to type next (D20)', () => {
    const [, section = ''] = /<section class="card failure[^>]*>(.*?)<\/section>/s.exec(small)!;
    const text = section.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(text).toMatch(
      /What failed ✖ w2 could not join the cluster in Join workers, step join, at 1:24 Why the clock of w2 is wrong What to do let chrony keep its clock Next run the same command again, .*: kbuild up /,
    );
    const interrupted = reportPage(
      readRecord(recordText([[5, { kind: 'error', message: 'interrupted', remedy: '', exitCode: 130 }]]), 'record'),
    );
    expect(interrupted).toMatch(/The run was interrupted[\s\S]*run the same command again/);
  });

  test('does not make the name of a script of kbuild the headline', () => {
    const place = { phase: 'join', host: 'w1', step: 'kubeadm-join' };
    const message = 'w1: status 1: linux/kubeadm.sh\nerror: this host does not join';
    const page = reportPage(
      readRecord(
        recordText([
          [1, { kind: 'changing', ...place, summary: 'join w1 to 10.0.0.1:6443 as a worker (found none)' }],
          [2, { kind: 'failed', ...place, summary: message, exitCode: 4 }],
          [3, { kind: 'failure', host: 'w1', message, cause: '', remedy: '', lastWords: '', exitCode: 4 }],
        ]),
        'record',
      ),
    );
    expect(page).toMatch(/<h3>[^]*?could not <bdi>join w1 to 10\.0\.0\.1:6443 as a worker<\/bdi>/);
    expect(page).toMatch(/Why<\/dt>\s*<dd><bdi>error: this host does not join<\/bdi>/);
    expect(page).toContain('linux/kubeadm.sh ended with status 1');
  });

  test('names every phase, finding and host of a record in the repository', () => {
    const text = readFileSync(new URL('../../fixtures/records/small.ndjson', import.meta.url), 'utf8');
    const page = reportPage(readRecord(text, 'small'));
    for (const word of [
      'Prepare hosts',
      'Join workers',
      'time-sync',
      'lb1',
      'the clock of w2 is wrong',
      '8472/udp flannel',
    ])
      expect(page).toContain(word);
  });
});
