# Runs every probe of Probes (fact, name, script, params) and returns each result: {fact: {ok: JSON text}} or
# {fact: {failed: reason}}; and whether this login is an administrator.
[CmdletBinding()]
param([Parameter(Mandatory = $true)]$Probes)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
# A function sees the variables of its caller: no probe has this name.
$kb_said = @{}
# A probe ends like any script: here its result is kept instead of printed.
function Write-Result {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)][AllowNull()][AllowEmptyString()][AllowEmptyCollection()]$Value)
    $kb_said['result'] = ConvertTo-JsonText -Value $Value
}
$answers = @{}
$administrator = Test-Administrator
if ($administrator) {
    foreach ($probe in @($Probes)) {
        $kb_said['result'] = $null
        try {
            $arguments = ConvertTo-Table -Object $probe.params
            $block = ConvertTo-ScriptBlock -Name $probe.name -Text $probe.script
            & $block @arguments | Out-Null
            if ($null -eq $kb_said['result']) { throw 'it gave no result' }
            $answers[$probe.fact] = @{ ok = $kb_said['result'] }
        }
        catch { $answers[$probe.fact] = @{ failed = "$($_.Exception.Message)" } }
    }
}
Write-ResultLine -Json (ConvertTo-JsonText -Value @{ administrator = $administrator; answers = $answers })
