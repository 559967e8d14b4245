# Completion of kbuild for Windows PowerShell 5.1 and PowerShell 7. Load it in $PROFILE:
#   kbuild completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName kbuild -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $current = [string]$wordToComplete
    # Every word has a sign before it: Windows PowerShell drops empty arguments.
    $words = @()
    foreach ($element in @($commandAst.CommandElements | Select-Object -Skip 1)) {
        if ($element.Extent.EndOffset -lt $cursorPosition) {
            $words += '=' + $element.Extent.Text.Trim("'", '"')
        } elseif ($element.Extent.StartOffset -lt $cursorPosition) {
            $length = $cursorPosition - $element.Extent.StartOffset
            $current = $element.Extent.Text.Substring(0, $length).Trim("'", '"')
        }
    }
    $answer = @(& kbuild __complete powershell @words ('=' + $current) 2>$null)
    # PowerShell replaces only what it takes for the word, e.g. what follows a comma.
    $kept = ''
    $word = ([string]$wordToComplete).Trim("'", '"')
    if ($current.EndsWith($word)) { $kept = $current.Substring(0, $current.Length - $word.Length) }
    foreach ($line in @($answer | Select-Object -Skip 1)) {
        $value, $note = $line.Split([char]9, 2)
        if ($value.StartsWith($kept)) { $value = $value.Substring($kept.Length) }
        # Without quotes, a comma would make a list of two words.
        $text = $value
        if ($value.Contains(',')) { $text = "'" + $value + "'" }
        if (-not $note) { $note = $value }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $note)
    }
}
