import { expect, test } from 'vitest';
import { nodesOf, powershellParser, scriptText } from './grammar.ts';

test('a program that fails is reported with the end of its stdout, then the end of its stderr', async () => {
  const parse = await powershellParser();
  const body = nodesOf(parse(scriptText('common.ps1')), 'function_statement').find(({ text }) =>
    text.startsWith('function Invoke-Native '),
  )!.text;
  expect(body).toContain(
    '$end = @(@($output | Select-Object -Last 10) + @($errors | Select-Object -Last 10)) -join "`n"',
  );
  expect(body).toMatch(/\$output = @\(\$said \| Where-Object -FilterScript \{ \$_ -isnot \[\S+\.ErrorRecord\] \}/);
  expect(body).toMatch(/\$errors = @\(\$said \| Where-Object -FilterScript \{ \$_ -is \[\S+\.ErrorRecord\] \}/);
});
