# Stops and removes services. Skips missing services. Names: the services, with dependents before the services that they
# depend on.
[CmdletBinding()]
param([string[]]$Names = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$removed = @()
foreach ($name in $Names) {
    if ($null -ne (Find-Existing -Look { Get-Service -Name $name -ErrorAction 'Stop' })) {
        Assert-NotMarkedForDeletion -Name $name
        Stop-ServiceInTime -Name $name
        Invoke-Native -Exe 'sc.exe' -Arguments @('delete', $name) | Out-Null
        $removed += $name
    }
}
Write-Result -Value @{ removed = @($removed) }
