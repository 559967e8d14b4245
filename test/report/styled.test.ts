import { describe, expect, test } from 'vitest';
import { styled } from '../../src/report/styled.ts';

const at = (columns: number, text: string): readonly string[] =>
  styled(text, { columns, hasColours: false }).split('\n');

describe('prose on a terminal', () => {
  test('is wrapped at words, and continued lines hang below the text', () => {
    expect(
      at(
        44,
        '✖ error cgroup-version: cp1: runs on cgroup v1, and the kubelet of Kubernetes 1.36 needs cgroup v2\n    → boot with systemd.unified_cgroup_hierarchy=1, or accept v1\n',
      ),
    ).toEqual([
      '✖ error cgroup-version: cp1: runs on cgroup',
      '  v1, and the kubelet of Kubernetes 1.36',
      '  needs cgroup v2',
      '    → boot with',
      '      systemd.unified_cgroup_hierarchy=1, or',
      '      accept v1',
      '',
    ]);
    expect(at(44, '  cp1: install kubelet 1.36.3 and kubeadm 1.36.3 (found none)')).toEqual([
      '  cp1: install kubelet 1.36.3 and kubeadm',
      '    1.36.3 (found none)',
    ]);
  });

  test('keeps what fits, tables, and words that are longer than the window', () => {
    const table = '  HOST  NAME                          EXPIRES               DAYS';
    expect(at(44, table)).toEqual([table]);
    const long = `/${'x'.repeat(60)}`;
    expect(at(44, `full log: ${long}`)).toEqual(['full log:', `  ${long}`]);
    expect(at(80, 'nothing to do')).toEqual(['nothing to do']);
    expect(at(20, 'a window that is too narrow is left to the terminal')).toHaveLength(1);
  });

  test.each([
    ['✖ error ports: w1: taken', '\u001B[31m✖ error ports\u001B[0m: w1: taken'],
    ['! warning swap: w1: on', '\u001B[33m! warning swap\u001B[0m: w1: on'],
    ['? unknown swap: w1: no answer', '\u001B[35m? unknown swap\u001B[0m: w1: no answer'],
    ['~ due swap: w1: on', '\u001B[36m~ due swap\u001B[0m: w1: on'],
    ['    → swapoff -a', '    \u001B[36m→\u001B[0m swapoff -a'],
    ['kbuild: no', '\u001B[31mkbuild:\u001B[0m no'],
    ['✔ nothing found', '\u001B[32m✔\u001B[0m nothing found'],
    ['plain', 'plain'],
  ])('%s has its colour by its kind', (line, expected) => {
    expect(styled(line, { columns: 80, hasColours: true })).toBe(expected);
  });
});
