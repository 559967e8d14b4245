# The scheduled task of a job runs this as SYSTEM: it runs the job with payload as its input for at most Seconds,
# deletes its secrets, then writes its status in one step. Folder: the job's. No function of common.ps1 is known here.
[CmdletBinding()]
param([Parameter(Mandatory = $true)][string]$Folder, [Parameter(Mandatory = $true)][int]$Seconds)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
# How a process ended. One that is late is ended with all that it has started.
function Get-Status {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)]$Process, [Parameter(Mandatory = $true)][int]$Limit)
    # Without its handle Windows PowerShell forgets the status of a process that ends at once.
    $null = $Process.Handle
    if (-not $Process.WaitForExit($Limit * 1000)) {
        Start-Process -FilePath 'taskkill.exe' -ArgumentList @('/t', '/f', '/pid', "$($Process.Id)") -NoNewWindow -Wait
        if (-not $Process.WaitForExit(10000)) { $Process.Kill() }
        return 'timeout'
    }
    $Process.ExitCode
}
$status = 'did not start'
try {
    $arguments = Get-Content -LiteralPath "$Folder\arguments" -Raw
    $process = Start-Process -FilePath 'powershell.exe' -ArgumentList $arguments -WorkingDirectory "$Folder\work" -RedirectStandardInput "$Folder\payload" -RedirectStandardOutput "$Folder\output" -RedirectStandardError "$Folder\errors" -NoNewWindow -PassThru
    $status = Get-Status -Process $process -Limit $Seconds
}
catch { Set-Content -LiteralPath "$Folder\errors" -Value "$_" -Encoding 'ASCII' }
finally {
    # The payload first: it has secrets. What a process still has open stays, and must not cost the status; job-forget
    # removes the folder again, and names what it cannot.
    foreach ($secret in @('payload', 'work')) {
        try { Remove-Item -LiteralPath "$Folder\$secret" -Recurse -Force }
        catch { $null = $_ }
    }
    Set-Content -LiteralPath "$Folder\status.new" -Value "$status" -Encoding 'ASCII'
    Move-Item -LiteralPath "$Folder\status.new" -Destination "$Folder\status" -Force
}
