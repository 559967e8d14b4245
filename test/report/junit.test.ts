import { expect, test } from 'vitest';
import { junit } from '../../src/report/findings.ts';

test('every check of every host is a case; errors and unknowns fail, the rest is said', () => {
  const xml = junit(
    'prod & <test>',
    ['swap', 'ports'],
    ['cp1', 'w1'],
    [
      {
        check: 'ports',
        page: '',
        severity: 'error',
        host: 'w1',
        message: 'port "80" is held by <apache>',
        remedy: 'stop it',
      },
      { check: 'swap', page: '', severity: 'due', host: 'w1', message: 'swap is on' },
      { check: 'operator-clock', page: '', severity: 'unknown', message: 'bad \u0001 byte' },
    ],
  );
  expect(xml).toMatchInlineSnapshot(`
    "<?xml version="1.0" encoding="UTF-8"?>
    <testsuites tests="5" failures="2" errors="0">
      <testsuite name="kbuild check prod &amp; &lt;test&gt;" tests="5" failures="2" errors="0">
        <testcase classname="cp1" name="swap"/>
        <testcase classname="cp1" name="ports"/>
        <testcase classname="w1" name="swap">
          <system-out>due: swap is on</system-out>
        </testcase>
        <testcase classname="w1" name="ports">
          <failure type="error" message="port &quot;80&quot; is held by &lt;apache&gt;">error: port &quot;80&quot; is held by &lt;apache&gt; (stop it)</failure>
        </testcase>
        <testcase classname="all hosts" name="operator-clock">
          <failure type="unknown" message="bad \\x01 byte">unknown: bad \\x01 byte</failure>
        </testcase>
      </testsuite>
    </testsuites>
    "
  `);
});
